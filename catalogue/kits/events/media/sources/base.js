// What every page has: where to keep things, requests in the background, and buttons that send their form that way.
"use strict";

var Events = { curves: [] };

Events.send = function (form, done) {
  fetch(form.action, {
    method: "POST",
    body: new FormData(form),
    headers: { "X-Requested-With": "XMLHttpRequest" },
    credentials: "same-origin"
  }).then(function (answer) {
    return answer.text().then(function (text) { done(answer.ok, text); });
  }).catch(function () { done(false, ""); });
};

// A form with data-into="ID" puts its answer there instead of leaving the page.
document.addEventListener("submit", function (event) {
  var into = document.getElementById(event.target.getAttribute("data-into") || "");
  if (!into) { return; }
  event.preventDefault();
  Events.send(event.target, function (well, text) {
    if (well) { into.innerHTML = text; } else { event.target.submit(); }
  });
});

