-- A large result that the client takes row by row and slowly, so that the server waits for room in the socket.
--
-- sysbench's own driver takes a whole result at once; here the client library is called directly.

local client = require("client")
local ffi = require("ffi")

ffi.cdef [[
   void *mysql_init(void *connection);
   void *mysql_real_connect(void *connection, const char *host, const char *user, const char *password,
                            const char *database, unsigned int port, const char *socket, unsigned long flags);
   int mysql_query(void *connection, const char *statement);
   void *mysql_use_result(void *connection);
   void *mysql_fetch_row(void *result);
   void mysql_free_result(void *result);
   const char *mysql_error(void *connection);
   void mysql_close(void *connection);
   int usleep(unsigned int us);
]]

sysbench.cmdline.options = {
   tables = {"Number of sbtest tables", 1},
   table_size = {"Rows of each", 10000},
   rows = {"Rows of a result", 20000},
   rows_per_s = {"Rows that a client takes a second", 20000}
}

local ROWS_AT_ONCE = 500
local library, session

function thread_init()
   library = ffi.load("libmariadb.so.3")
   session = library.mysql_init(nil)
   local opened = library.mysql_real_connect(session, nil, sysbench.opt.mysql_user, sysbench.opt.mysql_password,
                                             sysbench.opt.mysql_db, 0, os.getenv("POOLPILOT_SOCKET"), 0)
   assert(opened ~= nil, "FATAL: " .. ffi.string(library.mysql_error(session)))
end

function thread_done()
   library.mysql_close(session)
end

function event()
   local rows = sysbench.opt.rows
   local first = sysbench.rand.uniform(1, math.max(sysbench.opt.table_size - rows, 1))
   local tables = sysbench.rand.uniform(1, sysbench.opt.tables)
   local statement = string.format("SELECT SQL_NO_CACHE * FROM sbtest%d WHERE id BETWEEN %d AND %d", tables, first,
                                   first + rows - 1)
   assert(library.mysql_query(session, statement) == 0, "FATAL: " .. ffi.string(library.mysql_error(session)))
   local result, taken = library.mysql_use_result(session), 0
   while library.mysql_fetch_row(result) ~= nil do
      taken = taken + 1
      if taken % ROWS_AT_ONCE == 0 then ffi.C.usleep(1e6 * ROWS_AT_ONCE / sysbench.opt.rows_per_s) end
   end
   library.mysql_free_result(result)
end

client.measure()
