// Says what a form still lacks before it is sent. The server checks everything again.
"use strict";

document.addEventListener("submit", function (event) {
  var form = event.target;
  if (!form.classList.contains("long")) { return; }
  var message = form.querySelector(".missing");
  var missing = [];
  form.querySelectorAll("[required]").forEach(function (field) {
    if (!field.value.trim()) { missing.push(field.getAttribute("data-label") || field.name); }
  });
  var first = form.querySelector("[name=password]");
  var again = form.querySelector("[name=passwordx]");
  if (first && again && first.value !== again.value) { missing.push("the same password twice"); }
  if (missing.length > 0) {
    event.preventDefault();
    message.textContent = "Please give: " + missing.join(", ");
  }
});

