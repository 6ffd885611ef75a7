-- Asks for the lines of the file that is named behind --, one after the other: a path,
-- and behind a tab what stands in If-None-Match. With the word once behind the file it
-- stops behind the last line and sets elapsed to the microseconds that it took.
local ffi = require("ffi")
ffi.cdef("typedef struct { long seconds; long nanos; } moment; int clock_gettime(int clock, moment *at);")

local requests, n, i, once, began = {}, 0, 0, false, 0

local function now()
  local at = ffi.new("moment[1]")
  ffi.C.clock_gettime(1, at) -- CLOCK_MONOTONIC
  return tonumber(at[0].seconds) * 1e6 + tonumber(at[0].nanos) / 1e3
end

function setup(thread)
  only = thread
end

function init(args)
  for line in io.lines(args[1]) do
    local path, tag = line:match("^([^\t]+)\t?(.*)$")
    wrk.headers["If-None-Match"] = tag ~= "" and tag or nil
    n = n + 1
    requests[n] = wrk.format("GET", path)
  end
  once = args[2] == "once"
end

function request()
  if once then
    if i == 0 then began = now() end
    if i == n then
      elapsed = elapsed or now() - began
      wrk.thread:stop()
    end
  end
  i = i % n + 1
  return requests[i]
end
