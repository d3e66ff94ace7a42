-- The fourteen web interactions of TPC-W. Each function is an operation and a state of the matrices in kit.toml; its
-- time is that of the page and of the pictures on it that the visitor does not have yet.
--
-- What a visit knows: the customer's number, the cart's and the session's, and what the last page shows (`shows`): a
-- product, or the lines of the cart. The cart is `emptied` by a purchase until it is seen again. `links` are the items of
-- the last page that had a list, which is where a visitor who leaves one product for another goes back to.

local choices = require "choices"
local inputs = require "inputs"
local population = require "population"
local shop = require "shop"

local MAX_BOOKS = 50
local SEARCHES = { "author", "title", "subject" }

-- Fetches the page's pictures; what the visitor has and what is fresh makes no request.
local function pictures(page)
  local requests = {}
  for place, path in ipairs(page:objects()) do
    requests[place] = { "GET", path, { name = "picture", discard = true } }
  end
  if #requests == 0 then return end
  local loaded = 0
  for _, picture in ipairs(parallel(requests, { connections = param.image_connections, cache = true })) do
    if picture.status == 200 then loaded = loaded + 1 end
  end
  count("pictures shown", #requests)
  count("pictures loaded", loaded)
end

-- The books that a page lists: some or none, and never more than the limit.
local function books(visit, page)
  local listed = shop.rows(page)
  check(listed <= MAX_BOOKS and (listed == 0) == page:has("No books were found"), "up to fifty books, or none")
  visit.links = shop.links(page)
  return listed
end

function Home(user)
  operation "Home"
  local visit = user.visit
  if not visit or shop.is_over(visit) then
    visit = shop.arrive(user)
    count "visits"
  end
  local page = shop.open(visit, "TPCW_home_interaction", {}, "Home")
  check(page:has("<h2>Hello unknown user</h2>") == (visit.customer == nil), "a greeting by name, or of nobody")
  visit.links = shop.links(page)
  pictures(page)
end

function NewProducts(user)
  operation "NewProducts"
  local page = shop.open(user.visit, "TPCW_new_products_servlet", { subject = pick(choices.subjects) }, "New Products")
  books(user.visit, page)
  pictures(page)
end

function BestSellers(user)
  operation "BestSellers"
  local page = shop.open(user.visit, "TPCW_best_sellers_servlet", { subject = pick(choices.subjects) }, "Best Sellers")
  books(user.visit, page)
  pictures(page)
end

-- One of the items that the last list has a link to, in words or as a picture.
function ProductDetail(user)
  operation "ProductDetail"
  local visit = user.visit
  if not visit.links or #visit.links == 0 then fail "no page with a link to a product was ever seen" end
  visit.item = pick(visit.links)
  local page = shop.open(visit, "TPCW_product_detail_servlet", { I_ID = visit.item }, "Product Detail")
  if check(page:has('alt="Book ' .. visit.item .. '"'), "the product that was asked for") then
    visit.shows = { product = visit.item }
  end
  pictures(page)
end

function SearchRequest(user)
  operation "SearchRequest"
  pictures(shop.open(user.visit, "TPCW_search_request_servlet", {}, "Search Request"))
end

-- Names of authors and titles hold what is searched for: it is always found.
function SearchResults(user)
  operation "SearchResults"
  local kind = pick(SEARCHES)
  local wanted = kind == "author" and population.author_search() or kind == "title" and population.title_search()
    or pick(choices.subjects)
  local fields = { search_type = kind, search_string = wanted }
  local page = shop.open(user.visit, "TPCW_execute_search", fields, "Search Results")
  local found = books(user.visit, page)
  check(found > 0 or kind == "subject", "a search for " .. wanted .. " that finds something")
  count("titles found", found)
  pictures(page)
end

-- What a visit to the cart does: adds the product that is shown, changes the quantities that are shown, or only looks.
-- Gives the fields, and a function that says whether the lines are as they should be.
local function errand(shows)
  if shows and shows.product then
    return { ADD_FLAG = "Y", I_ID = shows.product }, function(lines)
      for _, line in ipairs(lines) do
        if line.item == shows.product then return true end
      end
      return false
    end
  end
  if not (shows and shows.lines) then return { ADD_FLAG = "N" }, function(lines) return #lines > 0 end end
  local fields, wanted = inputs.quantities(shows.lines)
  return fields, function(lines)
    -- An empty cart gets some other item.
    if not next(wanted) then return #lines == 1 and lines[1].quantity == 1 end
    local seen = 0
    for _, line in ipairs(lines) do
      if wanted[line.item] ~= line.quantity then return false end
      seen = seen + 1
    end
    for _ in pairs(wanted) do seen = seen - 1 end
    return seen == 0
  end
end

function ShoppingCart(user)
  operation "ShoppingCart"
  local visit = user.visit
  local fields, is_right = errand(visit.shows)
  -- Known for the first visit after a purchase only: whatever this one does, there may be more in it later.
  local was_emptied = visit.emptied
  visit.emptied = nil
  local page = shop.open(visit, "TPCW_shopping_cart_interaction", fields, "Shopping Cart")
  local lines, number = shop.cart(page)
  if not visit.cart then
    visit.cart = number or fail "the cart has no number"
    count "carts"
  end
  if check(is_right(lines), "a cart with what was put into it") then visit.shows = { lines = lines } end
  check(not was_emptied or #lines == 1, "a cart without what was bought")
  shop.check_subtotal(page, lines)
  pictures(page)
end

function CustomerRegistration(user)
  operation "CustomerRegistration"
  local visit = user.visit
  local page = shop.open(visit, "TPCW_customer_registration_servlet", {}, "Customer Registration")
  local form = page:form() or fail "no form to register with"
  local name = visit.customer and population.account(visit.customer) or ""
  check(form.fields.UNAME == name, "a form with the user name of who is known")
  pictures(page)
end

-- Who is known gives a name and password, who is not becomes a customer.
local function identity(visit)
  if not visit.customer then return inputs.registration() end
  local name, password = population.account(visit.customer)
  return { RETURNING_FLAG = "Y", UNAME = name, PASSWD = password }
end

function BuyRequest(user)
  operation "BuyRequest"
  local visit = user.visit
  if not visit.cart then fail "no cart was ever seen: there is nothing to buy" end
  local is_new = not visit.customer
  local page = shop.send(visit, "TPCW_buy_request_servlet", identity(visit), "Buy Request")
  local form = page:form() or fail "no form for the card"
  local customer = tonumber(form.fields.C_ID) or fail "the customer has no number"
  if is_new then
    visit.customer = customer
    count "registered"
  end
  check(customer == visit.customer, "the page of customer " .. visit.customer)
  visit.name, visit.today = form.fields.CC_NAME, page:header("Date")
  shop.check_totals(page)
  pictures(page)
end

function BuyConfirm(user)
  operation "BuyConfirm"
  local visit = user.visit
  if not (visit.name and visit.cart) then fail "nobody was asked for a card: there is nothing to confirm" end
  local fields = inputs.purchase(visit.name, visit.today)
  local page = shop.send(visit, "TPCW_buy_confirm_servlet", fields, "Buy Confirm")
  visit.order = tonumber(page:between('id="order">', "<")) or fail "the order has no number"
  visit.emptied = true
  count "orders"
  count("ordered lines", shop.rows(page))
  shop.check_totals(page)
  pictures(page)
end

function OrderInquiry(user)
  operation "OrderInquiry"
  local page = shop.open(user.visit, "TPCW_order_inquiry_servlet", {}, "Order Inquiry")
  check(page:has('name="UNAME"') and page:has('name="PASSWD"'), "a form with user name and password")
  pictures(page)
end

-- The last order of who is known, or of any customer.
function OrderDisplay(user)
  operation "OrderDisplay"
  local visit = user.visit
  local name, password = population.account(visit.customer or population.somebody())
  local page = shop.send(visit, "TPCW_order_display_servlet", { UNAME = name, PASSWD = password }, "Order Display")
  if page:has('id="order"') then
    check(shop.rows(page) > 0, "an order with lines")
  else
    check(not visit.order and page:has('id="none"'), "no order only where nothing was bought")
  end
  pictures(page)
end

function AdminRequest(user)
  operation "AdminRequest"
  local visit = user.visit
  local item = visit.item or fail "no product was ever asked for"
  local page = shop.open(visit, "TPCW_admin_request_servlet", { I_ID = item }, "Admin Request")
  check(page:has('alt="Book ' .. item .. '"'), "the form for the product that was shown")
  pictures(page)
end

function AdminConfirm(user)
  operation "AdminConfirm"
  local visit = user.visit
  local item = visit.item or fail "no product was ever asked for"
  local fields = inputs.change(item, random(1, population.items))
  local page = shop.send(visit, "TPCW_admin_response", fields, "Admin Confirm")
  check(page:has('id="item">' .. item .. "<"), "the page of the item that was changed")
  check(page:has('id="cost">$' .. fields.I_NEW_COST .. "<"), "the new price")
  count "changed"
  pictures(page)
end
