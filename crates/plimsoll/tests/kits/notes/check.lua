expect("every page is there", #list_files("pages"), size.pages)
expect("no other page is", read_file("pages/0.txt") == nil and 1 or 0, 1)
local saved, wrong = 0, 0
for file, text in pairs(told) do
  saved = saved + 1
  if read_file(file) ~= text then wrong = wrong + 1 end
end
expect("pages that were saved", saved, 1, size.pages)
expect("pages that are not as they were saved", wrong, 0)
