// The search field takes the tag that was clicked with the control key held.
"use strict";

document.addEventListener("click", function (event) {
  var tag = event.target.closest ? event.target.closest(".tags a") : null;
  var field = document.getElementById("tag");
  if (!tag || !field || !event.ctrlKey) { return; }
  event.preventDefault();
  field.value = tag.textContent;
});

