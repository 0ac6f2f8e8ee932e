-- The events of sysbench's own oltp scripts, measured. POOLPILOT_SCRIPT names the script.

require(os.getenv("POOLPILOT_SCRIPT"))
require("client").measure()
