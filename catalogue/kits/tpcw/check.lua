-- What must hold in the database after a run, by what the users were told.
--
-- The session counts `orders` and `ordered lines` (the page of the order came, with that number of lines on it), `registered` (the
-- new customer's page came), `carts` (a cart's number was seen first) and `changed` (the changed item's page came). An
-- interaction without an answer (timed out, failed, cut off at the end) may have been done or not: it widens a range.

local DELIVERY = 21

local last_customer = query "SELECT LAST_CUSTOMER FROM BASELINE"
local last_address = query "SELECT LAST_ADDRESS FROM BASELINE"
local last_order = query "SELECT LAST_ORDER FROM BASELINE"

-- How many new orders there are of which that holds.
local function new_orders(of_which)
  return query(string.format("SELECT COUNT(*) FROM ORDERS O WHERE O.o_id > %d %s", last_order, of_which or ""))
end

-- Orders and their lines.
local bought, unsure = counters.orders, unanswered.BuyConfirm
expect("new orders = purchases", new_orders(), bought, bought + unsure)
local lines = query("SELECT COUNT(*) FROM ORDER_LINE WHERE ol_o_id > " .. last_order)
local most_lines = query(string.format([[
  SELECT COALESCE(MAX(line_count), 0) FROM (
    SELECT COUNT(*) AS line_count FROM ORDER_LINE WHERE ol_o_id > %d GROUP BY ol_o_id) AS PER_ORDER]], last_order))
local ordered = counters["ordered lines"]
expect("new order lines = lines of purchases", lines, ordered, ordered + unsure * most_lines)
expect("new orders without lines",
  new_orders "AND NOT EXISTS (SELECT 1 FROM ORDER_LINE WHERE ol_o_id = O.o_id)", 0)
expect("new order lines without an order or of no item", query(string.format([[
  SELECT COUNT(*) FROM ORDER_LINE LEFT JOIN ORDERS ON o_id = ol_o_id LEFT JOIN ITEM ON i_id = ol_i_id
  WHERE ol_o_id > %d AND (o_id IS NULL OR i_id IS NULL OR ol_qty < 1)]], last_order)), 0)
expect("new orders of no customer or with an address that is none", new_orders [[AND (
  NOT EXISTS (SELECT 1 FROM CUSTOMER WHERE c_id = O.o_c_id)
  OR NOT EXISTS (SELECT 1 FROM ADDRESS WHERE addr_id = O.o_bill_addr_id)
  OR NOT EXISTS (SELECT 1 FROM ADDRESS WHERE addr_id = O.o_ship_addr_id))]], 0)

-- Money. An item whose price was changed since may have been sold at another one: it shows by its new date.
expect("new orders whose sub-total is not their lines' worth", query(string.format([[
  SELECT COUNT(*) FROM (
    SELECT o_sub_total, ROUND(SUM(ol_qty * i_cost) * (1 - MAX(ol_discount)), 2) AS WORTH
    FROM ORDERS JOIN ORDER_LINE ON ol_o_id = o_id JOIN ITEM ON i_id = ol_i_id
    WHERE o_id > %d GROUP BY o_id, o_sub_total HAVING MAX(i_pub_date) <= (SELECT LAST_PUBLISHED FROM BASELINE)
  ) AS PER_ORDER WHERE o_sub_total <> WORTH]], last_order)), 0)
expect("new orders whose tax is not 8.25 % or whose total is not the sum of its parts", query(string.format([[
  SELECT COUNT(*) FROM (
    SELECT o_sub_total, o_tax, o_total, SUM(ol_qty) AS PIECES FROM ORDERS JOIN ORDER_LINE ON ol_o_id = o_id
    WHERE o_id > %d GROUP BY o_id, o_sub_total, o_tax, o_total
  ) AS PER_ORDER
  WHERE o_tax <> ROUND(o_sub_total * 0.0825, 2) OR o_total <> o_sub_total + o_tax + 3 + PIECES]], last_order)), 0)
expect("new payments = new orders",
  query("SELECT COUNT(*) FROM CC_XACTS WHERE cx_o_id > " .. last_order), new_orders())
expect("new orders without an authorised payment of their total", new_orders [[AND NOT EXISTS (
  SELECT 1 FROM CC_XACTS WHERE cx_o_id = O.o_id AND cx_xact_amt = O.o_total AND CHAR_LENGTH(cx_auth_id) = 15)]], 0)

expect("new payments from no country", query(string.format([[
  SELECT COUNT(*) FROM CC_XACTS LEFT JOIN COUNTRY ON co_id = cx_co_id WHERE cx_o_id > %d AND co_id IS NULL]],
  last_order)), 0)

-- Stock falls by what is sold, and a delivery is always of as many pieces: what is over is a sale that was lost.
expect("items whose stock is not what was there, less what was sold, with whole deliveries", query(string.format([[
  SELECT COUNT(*) FROM ITEM JOIN BASELINE_STOCK B USING (i_id) LEFT JOIN (
    SELECT ol_i_id, SUM(ol_qty) AS SOLD, COUNT(*) AS SALES FROM ORDER_LINE WHERE ol_o_id > %d GROUP BY ol_i_id
  ) AS SOLD_SINCE ON ol_i_id = i_id
  WHERE MOD(ITEM.i_stock - B.i_stock + COALESCE(SOLD, 0), %d) <> 0
    OR ITEM.i_stock - B.i_stock + COALESCE(SOLD, 0) NOT BETWEEN 0 AND %d * COALESCE(SALES, 0)]],
  last_order, DELIVERY, DELIVERY)), 0)

-- Carts. That what was bought is no longer in one is for the session to see, at the next visit to the cart.
expect("new carts = carts that users were given", query "SELECT COUNT(*) FROM SHOPPING_CART", counters.carts,
  counters.carts + unanswered.ShoppingCart)
expect("lines of no cart, of no item, or of nothing", query [[
  SELECT COUNT(*) FROM SHOPPING_CART_LINE LEFT JOIN SHOPPING_CART ON sc_id = scl_sc_id LEFT JOIN ITEM ON i_id = scl_i_id
  WHERE sc_id IS NULL OR i_id IS NULL OR scl_qty < 1]], 0)

-- Customers. A name is spelled by its number's digits, a syllable each.
local spelled = "c_id"
for digit, syllable in pairs { [0] = "BA", "OG", "AL", "RI", "RE", "SE", "AT", "UL", "IN", "NG" } do
  spelled = string.format("REPLACE(%s, '%d', '%s')", spelled, digit, syllable)
end
expect("new customers = registrations", query("SELECT COUNT(*) FROM CUSTOMER WHERE c_id > " .. last_customer),
  counters.registered, counters.registered + unanswered.BuyRequest)
expect("new customers without their name, password or address", query(string.format([[
  SELECT COUNT(*) FROM CUSTOMER LEFT JOIN ADDRESS ON addr_id = c_addr_id LEFT JOIN COUNTRY ON co_id = addr_co_id
  WHERE c_id > %d AND (co_id IS NULL OR c_uname IS NULL OR c_uname <> %s OR BINARY c_passwd <> BINARY LOWER(c_uname)
    OR c_discount NOT BETWEEN 0 AND 0.5)]], last_customer, spelled)), 0)
-- An address comes about with the customer who lives there, or with the order that goes there; alone it is half of one.
expect("new addresses of nobody", query(string.format([[
  SELECT COUNT(*) FROM ADDRESS WHERE addr_id > %d
    AND addr_id NOT IN (SELECT c_addr_id FROM CUSTOMER WHERE c_id > %d)
    AND addr_id NOT IN (SELECT o_ship_addr_id FROM ORDERS WHERE o_id > %d)]],
  last_address, last_customer, last_order)), 0)

-- Items. An item that was changed twice counts once.
local changed = query "SELECT COUNT(*) FROM ITEM WHERE i_pub_date > (SELECT LAST_PUBLISHED FROM BASELINE)"
expect("changed items", changed, math.min(counters.changed, 1), counters.changed + unanswered.AdminConfirm)
-- By five look-ups for each: counting the items of a list of columns reads all items for each item.
expect("items related to one that is none, or twice to the same one", query [[
  SELECT COUNT(*) FROM ITEM I
  LEFT JOIN ITEM A ON A.i_id = I.i_related1 LEFT JOIN ITEM B ON B.i_id = I.i_related2
  LEFT JOIN ITEM C ON C.i_id = I.i_related3 LEFT JOIN ITEM D ON D.i_id = I.i_related4
  LEFT JOIN ITEM E ON E.i_id = I.i_related5
  WHERE A.i_id IS NULL OR B.i_id IS NULL OR C.i_id IS NULL OR D.i_id IS NULL OR E.i_id IS NULL
    OR I.i_related1 IN (I.i_related2, I.i_related3, I.i_related4, I.i_related5)
    OR I.i_related2 IN (I.i_related3, I.i_related4, I.i_related5)
    OR I.i_related3 IN (I.i_related4, I.i_related5) OR I.i_related4 = I.i_related5]], 0)
