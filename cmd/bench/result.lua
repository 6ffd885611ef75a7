-- What wrk has measured, as one line for programs: times are in microseconds.
function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    "\nresult requests=%d micros=%d bytes=%d p50=%d p99=%d connect=%d read=%d write=%d timeout=%d status=%d\n",
    summary.requests, summary.duration, summary.bytes,
    latency:percentile(50), latency:percentile(99),
    e.connect, e.read, e.write, e.timeout, e.status))
end
