-- Requests for wrk: executions of five events (START, three EVENTs, END; in one of twenty an EVENT
-- is a WARNING) of the automations that test/support/seed-record.ts stores. Each event is a JSON
-- body of 300 bytes. Arguments after `--`: tokens, of which each execution takes one, and
-- optionally the mean pause of a connection in ms, a seed, the events of a request (more than one
-- go to the bulk endpoint), and their kind: `plain`, `keyed` with an Idempotency-Key each, or
-- `ping`, which is a start or an end of a run without a rid, or `told`, a ping with a text.
local started = 0

function setup(thread)
  thread:set("number", started)
  started = started + 1
end

local words = { "Invoice", "Order", "Delivery note", "Claim", "Payroll", "Contract", "Customer", "Payment", "Statement", "Return" }
local deeds = { "was read and checked against the order", "was sent to the accounting system", "could be matched with its positions",
  "waits for the approval of a manager", "was downloaded from the supplier's portal", "was archived after the payment", "has been entered in the ledger" }
local kinds = { "START", "EVENT", "EVENT", "EVENT", "END" }
local automations, tokens, format, random = {}, {}, string.format, math.random
local execution, automation, step, pause, events, kind, sent, seed = "", "", 5, nil, 1, "plain", 0, ""

function init(args)
  math.randomseed(os.time() * 1000 + number * 7919 + tonumber(args[3] or 0))
  for i = 1, 200 do
    automations[i] = format("%08x-0000-4000-9000-000000000000", i - 1)
  end
  wrk.method = "POST"
  events = tonumber(args[4] or 1)
  kind = args[5] or "plain"
  seed = format("%d-%s-%d", os.time(), args[3] or "", number)
  wrk.path = events > 1 and "/v1/register/bulk/" or "/v1/register/"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["X-Forwarded-Proto"] = "https"
  for token in string.gmatch(args[1], "[^,]+") do tokens[#tokens + 1] = token end
  wrk.headers["token"] = tokens[1]
  if tonumber(args[2] or 0) > 0 then
    pause = tonumber(args[2])
    function delay() return random(0, 2 * pause) end
  end
end

local function body()
  if step == 5 then
    step = 0
    automation = automations[random(200)]
    if #tokens > 1 then wrk.headers["token"] = tokens[random(#tokens)] end
    kinds[3] = random(20) == 1 and "WARNING" or "EVENT"
    execution = format("%s-%08x%08x", os.date("!%Y%m%dT%H%M%S"), random(0, 2 ^ 31 - 1), random(0, 2 ^ 31 - 1))
  end
  step = step + 1
  local text = format("%s %d of %s %d %s; %d positions, total %.2f EUR, step %d took %d ms", words[random(10)], random(10000, 99999), "customer",
    random(1000, 9999), deeds[random(7)], random(1, 40), random() * 5000, step, random(3, 900))
  local head = format('{"automation_id":"%s","execution_id":"%s","event":"%s","description":"%s', automation, execution, kinds[step], text)
  return head .. string.rep(".", 298 - #head) .. '"}'
end

local function ping()
  local signal = sent % 2 == 0 and "" or "/start"
  return wrk.format("POST", format("/ping/%s/%s%s", tokens[1], automations[random(200)], signal), nil, kind == "told" and "done" or "")
end

function request()
  sent = sent + 1
  if kind == "ping" or kind == "told" then return ping() end
  if kind == "keyed" then wrk.headers["Idempotency-Key"] = format("%s-%020d", seed, sent) end
  if events == 1 then return wrk.format(nil, nil, nil, body()) end
  local bodies = {}
  for i = 1, events do bodies[i] = body() end
  return wrk.format(nil, nil, nil, "[" .. table.concat(bodies, ",") .. "]")
end

function done(summary, latency)
  local errors = summary.errors
  io.write(format('{"requests":%d,"us":%d,"refused":%d,"broken":%d,"p50":%.3f,"p99":%.3f,"max":%.3f}\n', summary.requests, summary.duration,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
