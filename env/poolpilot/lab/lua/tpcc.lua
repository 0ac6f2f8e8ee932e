-- Order entry in the manner of TPC-C: its five transactions in their shares, on tables and sizes of our own.
-- Not the benchmark: no think times, no terminals, a tenth of the rows, and nothing is to be compared with its results.

local client = require("client")

local DISTRICTS, CUSTOMERS, ITEMS, FIRST_ORDERS = 10, 300, 10000, 300
local LEAST_LINES, MOST_LINES = 5, 15

sysbench.cmdline.options = {
   warehouses = {"Number of warehouses", 4},
   transaction = {"One of new_order, payment, order_status, delivery, stock_level; mixed draws among them", "mixed"}
}

local TABLES = {
   "CREATE TABLE tpcc_item (i INT PRIMARY KEY, name VARCHAR(24), price DECIMAL(7,2))",
   "CREATE TABLE tpcc_warehouse (w INT PRIMARY KEY, ytd DECIMAL(14,2) NOT NULL)",
   "CREATE TABLE tpcc_district (w INT, d INT, ytd DECIMAL(14,2) NOT NULL, next_order INT NOT NULL, PRIMARY KEY (w, d))",
   "CREATE TABLE tpcc_customer (w INT, d INT, c INT, balance DECIMAL(14,2) NOT NULL, payments INT NOT NULL, " ..
      "data VARCHAR(250), PRIMARY KEY (w, d, c))",
   "CREATE TABLE tpcc_orders (w INT, d INT, o INT, c INT, entered DATETIME, carrier INT, line_count INT, " ..
      "PRIMARY KEY (w, d, o), KEY by_customer (w, d, c, o))",
   "CREATE TABLE tpcc_new_order (w INT, d INT, o INT, PRIMARY KEY (w, d, o))",
   "CREATE TABLE tpcc_order_line (w INT, d INT, o INT, line INT, i INT, quantity INT, amount DECIMAL(9,2), " ..
      "PRIMARY KEY (w, d, o, line))",
   "CREATE TABLE tpcc_history (id BIGINT AUTO_INCREMENT PRIMARY KEY, w INT, d INT, c INT, amount DECIMAL(9,2))",
   "CREATE TABLE tpcc_stock (w INT, i INT, quantity INT NOT NULL, ytd INT NOT NULL, data VARCHAR(50), " ..
      "PRIMARY KEY (w, i))"
}

-- %d is the number of warehouses; the sequence engine gives the rows.
local ROWS = {
   "INSERT INTO tpcc_item SELECT seq, CONCAT('item ', seq), 1 + seq %% 100 FROM seq_1_to_" .. ITEMS,
   "INSERT INTO tpcc_warehouse SELECT seq, 0 FROM seq_1_to_%d",
   "INSERT INTO tpcc_district SELECT w, seq, 0, " .. FIRST_ORDERS + 1 .. " FROM tpcc_warehouse, seq_1_to_" .. DISTRICTS,
   "INSERT INTO tpcc_customer SELECT w, d, seq, -10, 1, REPEAT(MD5(seq), 7) FROM tpcc_district, seq_1_to_" .. CUSTOMERS,
   "INSERT INTO tpcc_orders SELECT w, d, seq, 1 + seq * 7 %% " .. CUSTOMERS .. ", NOW(), NULL, 10 " ..
      "FROM tpcc_district, seq_1_to_" .. FIRST_ORDERS,
   "INSERT INTO tpcc_new_order SELECT w, d, o FROM tpcc_orders WHERE o > " .. FIRST_ORDERS * 0.7,
   "INSERT INTO tpcc_order_line SELECT w, d, o, seq, 1 + (o * 31 + seq * 17) %% " .. ITEMS .. ", 5, 10 " ..
      "FROM tpcc_orders, seq_1_to_10",
   "INSERT INTO tpcc_stock SELECT w, i, 50 + i %% 50, 0, REPEAT('s', 40) FROM tpcc_warehouse, tpcc_item"
}

local function prepare()
   client.connect()
   for _, statement in ipairs(TABLES) do con:query(statement) end
   for _, statement in ipairs(ROWS) do con:query(string.format(statement, sysbench.opt.warehouses)) end
end

sysbench.cmdline.commands = {prepare = {prepare}}

local uniform = sysbench.rand.uniform

local function run(statement, ...)
   return con:query(string.format(statement, ...))
end

local function number(statement, ...)
   local row = run(statement, ...):fetch_row()
   return row and tonumber(row[1])
end

-- Rising item numbers, so that transactions wait for one another but seldom deadlock.
local function drawn_items()
   local items = {}
   for line = 1, uniform(LEAST_LINES, MOST_LINES) do items[line] = uniform(1, ITEMS) end
   table.sort(items)
   return items
end

local function new_order(w, d)
   local items = drawn_items()
   run("BEGIN")
   local o = number("SELECT next_order FROM tpcc_district WHERE w = %d AND d = %d FOR UPDATE", w, d)
   run("UPDATE tpcc_district SET next_order = next_order + 1 WHERE w = %d AND d = %d", w, d)
   run("INSERT INTO tpcc_orders VALUES (%d, %d, %d, %d, NOW(), NULL, %d)", w, d, o, uniform(1, CUSTOMERS), #items)
   run("INSERT INTO tpcc_new_order VALUES (%d, %d, %d)", w, d, o)
   for line, i in ipairs(items) do
      local quantity = uniform(1, 10)
      local price = number("SELECT price FROM tpcc_item WHERE i = %d", i)
      run("UPDATE tpcc_stock SET quantity = IF(quantity > %d, quantity - %d, quantity + 91), ytd = ytd + %d " ..
         "WHERE w = %d AND i = %d", quantity + 10, quantity, quantity, w, i)
      run("INSERT INTO tpcc_order_line VALUES (%d, %d, %d, %d, %d, %d, %.2f)", w, d, o, line, i, quantity,
         price * quantity)
   end
   run("COMMIT")
end

local function payment(w, d)
   local c, amount = uniform(1, CUSTOMERS), uniform(100, 500000) / 100
   run("BEGIN")
   run("UPDATE tpcc_warehouse SET ytd = ytd + %.2f WHERE w = %d", amount, w)
   run("UPDATE tpcc_district SET ytd = ytd + %.2f WHERE w = %d AND d = %d", amount, w, d)
   run("UPDATE tpcc_customer SET balance = balance - %.2f, payments = payments + 1 WHERE w = %d AND d = %d AND c = %d",
      amount, w, d, c)
   run("INSERT INTO tpcc_history (w, d, c, amount) VALUES (%d, %d, %d, %.2f)", w, d, c, amount)
   run("COMMIT")
end

local function order_status(w, d)
   local c = uniform(1, CUSTOMERS)
   run("SELECT balance FROM tpcc_customer WHERE w = %d AND d = %d AND c = %d", w, d, c)
   local o = number("SELECT o FROM tpcc_orders WHERE w = %d AND d = %d AND c = %d ORDER BY o DESC LIMIT 1", w, d, c)
   if o then run("SELECT i, quantity, amount FROM tpcc_order_line WHERE w = %d AND d = %d AND o = %d", w, d, o) end
end

local function delivery(w)
   for d = 1, DISTRICTS do
      run("BEGIN")
      local o = number("SELECT o FROM tpcc_new_order WHERE w = %d AND d = %d ORDER BY o LIMIT 1 FOR UPDATE", w, d)
      if o then
         run("DELETE FROM tpcc_new_order WHERE w = %d AND d = %d AND o = %d", w, d, o)
         run("UPDATE tpcc_orders SET carrier = %d WHERE w = %d AND d = %d AND o = %d", uniform(1, 10), w, d, o)
      end
      run("COMMIT")
   end
end

local function stock_level(w, d)
   local next_order = number("SELECT next_order FROM tpcc_district WHERE w = %d AND d = %d", w, d)
   run("SELECT COUNT(DISTINCT l.i) FROM tpcc_order_line l JOIN tpcc_stock s ON s.w = l.w AND s.i = l.i " ..
      "WHERE l.w = %d AND l.d = %d AND l.o BETWEEN %d AND %d AND s.quantity < %d", w, d, next_order - 20,
      next_order - 1, uniform(10, 20))
end

local BY_NAME = {
   new_order = new_order, payment = payment, order_status = order_status, delivery = delivery,
   stock_level = stock_level
}

-- Per cent of the mix, as in the standard.
local SHARES = {{45, new_order}, {43, payment}, {4, order_status}, {4, delivery}, {4, stock_level}}

local function drawn_transaction()
   local point = uniform(1, 100)
   for _, share in ipairs(SHARES) do
      if point <= share[1] then return share[2] end
      point = point - share[1]
   end
end

function event()
   local transaction = BY_NAME[sysbench.opt.transaction] or drawn_transaction()
   transaction(uniform(1, sysbench.opt.warehouses), uniform(1, DISTRICTS))
end

client.measure()
