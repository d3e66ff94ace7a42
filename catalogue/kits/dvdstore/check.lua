-- What must hold in the database after a run, by what the users were told.
--
-- An operation without an answer (timed out, failed, cut off at the end) may have been done or not: it widens a range.

local function base(column) return query("SELECT " .. column .. " FROM BASELINE") end

local last_order, last_customer = base "LAST_ORDER", base "LAST_CUSTOMER"
local most_lines = 2 * param.n_line_items - 1

-- Orders and lines.
local bought = completed.Purchase - counters.rollbacks
expect("orders = purchases - rollbacks", query(string.format("SELECT COUNT(*) FROM ORDERS WHERE ORDERID > %d", last_order)),
  bought, bought + unanswered.Purchase)

local new_lines = query "SELECT COUNT(*) FROM ORDERLINES" - base "LINE_COUNT"
local ordered = counters.ordered_lines
expect("new order lines = lines of completed purchases", new_lines, ordered,
  ordered + unanswered.Purchase * most_lines)
expect("new orders without lines", query(string.format([[
  SELECT COUNT(*) FROM ORDERS O LEFT JOIN ORDERLINES L ON L.ORDERID = O.ORDERID AND L.ORDERLINEID = 1
  WHERE O.ORDERID > %d AND L.ORDERID IS NULL]], last_order)), 0)
expect("order lines without an order", query(string.format([[
  SELECT COUNT(*) FROM ORDERLINES L LEFT JOIN ORDERS O USING (ORDERID)
  WHERE L.ORDERID > %d AND O.ORDERID IS NULL]], last_order)), 0)
expect("new orders whose amount is not their lines' worth", query(string.format([[
  SELECT COUNT(*) FROM ORDERS O WHERE O.ORDERID > %d AND O.NETAMOUNT <> (
    SELECT COALESCE(SUM(L.QUANTITY * P.PRICE), 0) FROM ORDERLINES L JOIN PRODUCTS P USING (PROD_ID)
    WHERE L.ORDERID = O.ORDERID)]], last_order)), 0)

-- The customers' history. As in 2.1, it may tell of orders that were rolled back.
local ghosts, most_ghosts = 0, 0
if param.history == "always" then
  ghosts = counters.rolled_back_lines
  most_ghosts = ghosts + unanswered.Purchase * most_lines
end
expect("history rows of orders that do not exist", query(string.format([[
  SELECT COUNT(*) FROM CUST_HIST H LEFT JOIN ORDERS O USING (ORDERID)
  WHERE H.ORDERID > %d AND O.ORDERID IS NULL]], last_order)), ghosts, most_ghosts)
local new_history = query "SELECT COUNT(*) FROM CUST_HIST" - base "HISTORY_COUNT"
expect("new history rows = new order lines", new_history, new_lines + ghosts, new_lines + most_ghosts)

-- Stock. Absolute updates, as in 2.1, can lose each other's work: then less is sold and more is left than was ordered.
local exact = param.inventory_update == "guarded"
local pieces = query(string.format(
  "SELECT COALESCE(SUM(QUANTITY), 0) FROM ORDERLINES WHERE ORDERID > %d", last_order))
local reordered = query "SELECT COALESCE(SUM(QUAN_REORDERED), 0) FROM REORDER"
local sold = query "SELECT SUM(SALES) FROM INVENTORY" - base "SALES"
local left = query "SELECT SUM(QUAN_IN_STOCK) FROM INVENTORY"
local expected_left = base "STOCK" - pieces + reordered
expect("sales rose by the pieces in new orders", sold, exact and pieces or 0, pieces)
expect("stock fell by the pieces in new orders, less reorders", left, expected_left,
  exact and expected_left or expected_left + pieces)
expect("products with less than no stock", query "SELECT COUNT(*) FROM INVENTORY WHERE QUAN_IN_STOCK < 0", 0)

local low = query "SELECT COUNT(*) FROM INVENTORY WHERE QUAN_IN_STOCK < 3"
if param.restock == "constant" then
  expect("products short of stock are as many as at the start", low, base "LOW_PRODUCTS")
else
  expect("nothing was reordered", query "SELECT COUNT(*) FROM REORDER", 0)
end

-- Customers.
expect("new customers = registrations",
  query(string.format("SELECT COUNT(*) FROM CUSTOMERS WHERE CUSTOMERID > %d", last_customer)),
  completed.NewCustomer, completed.NewCustomer + unanswered.NewCustomer)
