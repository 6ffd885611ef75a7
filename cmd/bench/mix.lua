-- Asks for the lines of the file that is named behind --, one after the other: a path,
-- and behind a tab what stands in If-None-Match.
local requests, n, i = {}, 0, 0

function init(args)
  for line in io.lines(args[1]) do
    local path, tag = line:match("^([^\t]+)\t?(.*)$")
    wrk.headers["If-None-Match"] = tag ~= "" and tag or nil
    n = n + 1
    requests[n] = wrk.format("GET", path)
  end
end

function request()
  i = i % n + 1
  return requests[i]
end
