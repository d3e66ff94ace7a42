// Messages fade in.
"use strict";

Events.fadeIn = function (element, milliseconds) {
  var start = null;
  function step(now) {
    start = start === null ? now : start;
    var part = Math.min(1, (now - start) / milliseconds);
    element.style.opacity = String(Events.curves[100] ? Events.curves[100](part) : part);
    if (part < 1) { window.requestAnimationFrame(step); } else { element.style.opacity = ""; }
  }
  window.requestAnimationFrame(step);
};

document.addEventListener("DOMContentLoaded", function () {
  document.querySelectorAll(".message").forEach(function (message) { Events.fadeIn(message, 300); });
});

