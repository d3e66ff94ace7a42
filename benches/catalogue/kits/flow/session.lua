function visit(user)
  operation "Login"
  local page = post("/login", { username = "user" .. user.number, password = "password" })
  local id = page:between('name="customer" value="', '"') or fail("no customer id")
  check(page:has("Welcome"), "a welcome")

  for category = 1, 3 do
    operation "Search"
    page = get("/search", { category = category, customer = id })
    check(page:has("<table"), "a table of results")
  end

  operation "Order"
  page = post("/order", { customer = id, item = 7, quantity = 1 })
  check(page:has("Thank you"), "an order")
end
