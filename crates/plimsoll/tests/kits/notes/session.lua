-- Each user has a page of its own, so that what it is told last is what must be there.
function visit(user)
  operation "Look"
  local index = get("/index")
  check(index:has(size.pages .. " pages"), "the index has every page")
  get("/page/" .. random(1, size.pages))
  operation "Save"
  local file, text = "pages/" .. user.number .. ".txt", letters(60)
  told(file)
  check(post("/page/" .. user.number, { text = text }):has("saved"), "it is saved")
  told(file, text)
end
