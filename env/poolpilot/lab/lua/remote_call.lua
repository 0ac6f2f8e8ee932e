-- A procedure that waits as for a remote service, and does not tell the pool.

local client = require("client")

sysbench.cmdline.options = {
   wait_ms = {"Milliseconds that a call waits", 20.0}
}

function event()
   con:query(string.format("CALL remote_call(%.6f)", sysbench.opt.wait_ms))
end

client.measure()
