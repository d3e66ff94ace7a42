local function pages(first, last)
  for n = first, last do file("pages/" .. n .. ".txt", { text = "page " .. n .. " as it was made" }) end
end
return { parts = { { name = "pages", count = size.pages, chunk = 10, make = pages } } }
