// A picture may be dropped on its field.
"use strict";

document.addEventListener("DOMContentLoaded", function () {
  document.querySelectorAll("input[type=file]").forEach(function (field) {
    field.addEventListener("dragover", function (event) { event.preventDefault(); });
    field.addEventListener("drop", function (event) {
      event.preventDefault();
      field.files = event.dataTransfer.files;
    });
  });
});

