-- The requests of wrk, which equal those of requests.ts, and its results in the format of load.ts.
-- Arguments: the token, "sequential" or "random", "create" or "broken", the number of earlier requests, "equal" or "different".
local number, kind, ids, heads, headers

function setup(thread)
  sender = thread
end

function init(args)
  headers = { ["Authorization"] = "Bearer " .. args[1], ["Content-Type"] = "application/json" }
  ids, kind, number, heads = args[2], args[3], tonumber(args[4]), args[5]
  sent = 0
end

local function to_id(n)
  if ids == "sequential" then return string.format("%d", n) end
  -- Multiplying by an odd number runs through all of 2^62 without meeting a number twice.
  local id = (n * 0x9E3779B97F4A7C15ULL) % 0x4000000000000000ULL
  return (tostring(id):gsub("ULL", ""))
end

function request()
  number = number + 1
  sent = sent + 1
  if heads == "different" then
    headers["X-Forwarded-For"] = string.format(
      "10.%d.%d.%d", math.floor(number / 65536) % 256, math.floor(number / 256) % 256, number % 256)
  end
  local ending = kind == "broken" and "" or "}"
  local body = string.format('{"id":%s,"name":"plant %d","tag":"bench"%s', to_id(number), number, ending)
  return wrk.format("POST", "/plants", headers, body)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"sent":%d,"responses":%d,"rejected":%d,"failed":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f}\n',
    sender:get("sent"), summary.requests, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
