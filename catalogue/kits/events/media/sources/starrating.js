// Stars instead of a list for the rating of a comment.
"use strict";

Events.curves = Events.curves || [];

document.addEventListener("DOMContentLoaded", function () {
  var list = document.getElementById("rating");
  if (!list) { return; }
  var stars = document.createElement("span");
  function draw() {
    stars.innerHTML = "";
    for (var number = 1; number <= 5; number++) {
      var star = document.createElement("img");
      star.src = "/images/" + (number <= Number(list.value) ? "star_on.png" : "star_off.png");
      star.alt = String(number);
      star.dataset.number = String(number);
      stars.appendChild(star);
    }
  }
  stars.addEventListener("click", function (event) {
    if (event.target.dataset.number) { list.value = event.target.dataset.number; draw(); }
  });
  list.style.display = "none";
  list.parentNode.insertBefore(stars, list);
  draw();
});

