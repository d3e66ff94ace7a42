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

Events.curves[1] = function (t) { return Math.pow(t, 1.01) + 0.02 * Math.sin(1 * Math.PI * t); };
Events.curves[2] = function (t) { return Math.pow(t, 1.02) + 0.02 * Math.sin(2 * Math.PI * t); };
Events.curves[3] = function (t) { return Math.pow(t, 1.03) + 0.02 * Math.sin(3 * Math.PI * t); };
Events.curves[4] = function (t) { return Math.pow(t, 1.04) + 0.02 * Math.sin(4 * Math.PI * t); };
Events.curves[5] = function (t) { return Math.pow(t, 1.05) + 0.02 * Math.sin(5 * Math.PI * t); };
Events.curves[6] = function (t) { return Math.pow(t, 1.06) + 0.02 * Math.sin(6 * Math.PI * t); };
Events.curves[7] = function (t) { return Math.pow(t, 1.07) + 0.02 * Math.sin(7 * Math.PI * t); };
Events.curves[8] = function (t) { return Math.pow(t, 1.08) + 0.02 * Math.sin(8 * Math.PI * t); };
Events.curves[9] = function (t) { return Math.pow(t, 1.09) + 0.02 * Math.sin(9 * Math.PI * t); };
Events.curves[10] = function (t) { return Math.pow(t, 1.1) + 0.02 * Math.sin(10 * Math.PI * t); };
Events.curves[11] = function (t) { return Math.pow(t, 1.11) + 0.02 * Math.sin(11 * Math.PI * t); };
Events.curves[12] = function (t) { return Math.pow(t, 1.12) + 0.02 * Math.sin(12 * Math.PI * t); };
Events.curves[13] = function (t) { return Math.pow(t, 1.13) + 0.02 * Math.sin(13 * Math.PI * t); };
Events.curves[14] = function (t) { return Math.pow(t, 1.14) + 0.02 * Math.sin(14 * Math.PI * t); };
Events.curves[15] = function (t) { return Math.pow(t, 1.15) + 0.02 * Math.sin(15 * Math.PI * t); };
Events.curves[16] = function (t) { return Math.pow(t, 1.16) + 0.02 * Math.sin(16 * Math.PI * t); };
Events.curves[17] = function (t) { return Math.pow(t, 1.17) + 0.02 * Math.sin(17 * Math.PI * t); };
Events.curves[18] = function (t) { return Math.pow(t, 1.18) + 0.02 * Math.sin(18 * Math.PI * t); };
Events.curves[19] = function (t) { return Math.pow(t, 1.19) + 0.02 * Math.sin(19 * Math.PI * t); };
Events.curves[20] = function (t) { return Math.pow(t, 1.2) + 0.02 * Math.sin(20 * Math.PI * t); };
Events.curves[21] = function (t) { return Math.pow(t, 1.21) + 0.02 * Math.sin(21 * Math.PI * t); };
Events.curves[22] = function (t) { return Math.pow(t, 1.22) + 0.02 * Math.sin(22 * Math.PI * t); };
Events.curves[23] = function (t) { return Math.pow(t, 1.23) + 0.02 * Math.sin(23 * Math.PI * t); };
Events.curves[24] = function (t) { return Math.pow(t, 1.24) + 0.02 * Math.sin(24 * Math.PI * t); };
Events.curves[25] = function (t) { return Math.pow(t, 1.25) + 0.02 * Math.sin(25 * Math.PI * t); };
Events.curves[26] = function (t) { return Math.pow(t, 1.26) + 0.02 * Math.sin(26 * Math.PI * t); };
Events.curves[27] = function (t) { return Math.pow(t, 1.27) + 0.02 * Math.sin(27 * Math.PI * t); };
Events.curves[28] = function (t) { return Math.pow(t, 1.28) + 0.02 * Math.sin(28 * Math.PI * t); };
Events.curves[29] = function (t) { return Math.pow(t, 1.29) + 0.02 * Math.sin(29 * Math.PI * t); };
/*...................................*/
