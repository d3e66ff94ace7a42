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
Events.curves[30] = function (t) { return Math.pow(t, 1.3) + 0.02 * Math.sin(30 * Math.PI * t); };
Events.curves[31] = function (t) { return Math.pow(t, 1.31) + 0.02 * Math.sin(31 * Math.PI * t); };
Events.curves[32] = function (t) { return Math.pow(t, 1.32) + 0.02 * Math.sin(32 * Math.PI * t); };
Events.curves[33] = function (t) { return Math.pow(t, 1.33) + 0.02 * Math.sin(33 * Math.PI * t); };
Events.curves[34] = function (t) { return Math.pow(t, 1.34) + 0.02 * Math.sin(34 * Math.PI * t); };
Events.curves[35] = function (t) { return Math.pow(t, 1.35) + 0.02 * Math.sin(35 * Math.PI * t); };
Events.curves[36] = function (t) { return Math.pow(t, 1.36) + 0.02 * Math.sin(36 * Math.PI * t); };
Events.curves[37] = function (t) { return Math.pow(t, 1.37) + 0.02 * Math.sin(37 * Math.PI * t); };
Events.curves[38] = function (t) { return Math.pow(t, 1.38) + 0.02 * Math.sin(38 * Math.PI * t); };
Events.curves[39] = function (t) { return Math.pow(t, 1.39) + 0.02 * Math.sin(39 * Math.PI * t); };
Events.curves[40] = function (t) { return Math.pow(t, 1.4) + 0.02 * Math.sin(40 * Math.PI * t); };
Events.curves[41] = function (t) { return Math.pow(t, 1.41) + 0.02 * Math.sin(41 * Math.PI * t); };
Events.curves[42] = function (t) { return Math.pow(t, 1.42) + 0.02 * Math.sin(42 * Math.PI * t); };
Events.curves[43] = function (t) { return Math.pow(t, 1.43) + 0.02 * Math.sin(43 * Math.PI * t); };
Events.curves[44] = function (t) { return Math.pow(t, 1.44) + 0.02 * Math.sin(44 * Math.PI * t); };
Events.curves[45] = function (t) { return Math.pow(t, 1.45) + 0.02 * Math.sin(45 * Math.PI * t); };
Events.curves[46] = function (t) { return Math.pow(t, 1.46) + 0.02 * Math.sin(46 * Math.PI * t); };
Events.curves[47] = function (t) { return Math.pow(t, 1.47) + 0.02 * Math.sin(47 * Math.PI * t); };
Events.curves[48] = function (t) { return Math.pow(t, 1.48) + 0.02 * Math.sin(48 * Math.PI * t); };
Events.curves[49] = function (t) { return Math.pow(t, 1.49) + 0.02 * Math.sin(49 * Math.PI * t); };
Events.curves[50] = function (t) { return Math.pow(t, 1.5) + 0.02 * Math.sin(50 * Math.PI * t); };
Events.curves[51] = function (t) { return Math.pow(t, 1.51) + 0.02 * Math.sin(51 * Math.PI * t); };
Events.curves[52] = function (t) { return Math.pow(t, 1.52) + 0.02 * Math.sin(52 * Math.PI * t); };
Events.curves[53] = function (t) { return Math.pow(t, 1.53) + 0.02 * Math.sin(53 * Math.PI * t); };
Events.curves[54] = function (t) { return Math.pow(t, 1.54) + 0.02 * Math.sin(54 * Math.PI * t); };
Events.curves[55] = function (t) { return Math.pow(t, 1.55) + 0.02 * Math.sin(55 * Math.PI * t); };
Events.curves[56] = function (t) { return Math.pow(t, 1.56) + 0.02 * Math.sin(56 * Math.PI * t); };
Events.curves[57] = function (t) { return Math.pow(t, 1.57) + 0.02 * Math.sin(57 * Math.PI * t); };
Events.curves[58] = function (t) { return Math.pow(t, 1.58) + 0.02 * Math.sin(58 * Math.PI * t); };
Events.curves[59] = function (t) { return Math.pow(t, 1.59) + 0.02 * Math.sin(59 * Math.PI * t); };
Events.curves[60] = function (t) { return Math.pow(t, 1.6) + 0.02 * Math.sin(60 * Math.PI * t); };
Events.curves[61] = function (t) { return Math.pow(t, 1.61) + 0.02 * Math.sin(61 * Math.PI * t); };
Events.curves[62] = function (t) { return Math.pow(t, 1.62) + 0.02 * Math.sin(62 * Math.PI * t); };
Events.curves[63] = function (t) { return Math.pow(t, 1.63) + 0.02 * Math.sin(63 * Math.PI * t); };
Events.curves[64] = function (t) { return Math.pow(t, 1.64) + 0.02 * Math.sin(64 * Math.PI * t); };
Events.curves[65] = function (t) { return Math.pow(t, 1.65) + 0.02 * Math.sin(65 * Math.PI * t); };
Events.curves[66] = function (t) { return Math.pow(t, 1.66) + 0.02 * Math.sin(66 * Math.PI * t); };
Events.curves[67] = function (t) { return Math.pow(t, 1.67) + 0.02 * Math.sin(67 * Math.PI * t); };
Events.curves[68] = function (t) { return Math.pow(t, 1.68) + 0.02 * Math.sin(68 * Math.PI * t); };
Events.curves[69] = function (t) { return Math.pow(t, 1.69) + 0.02 * Math.sin(69 * Math.PI * t); };
Events.curves[70] = function (t) { return Math.pow(t, 1.7) + 0.02 * Math.sin(70 * Math.PI * t); };
Events.curves[71] = function (t) { return Math.pow(t, 1.71) + 0.02 * Math.sin(71 * Math.PI * t); };
Events.curves[72] = function (t) { return Math.pow(t, 1.72) + 0.02 * Math.sin(72 * Math.PI * t); };
Events.curves[73] = function (t) { return Math.pow(t, 1.73) + 0.02 * Math.sin(73 * Math.PI * t); };
Events.curves[74] = function (t) { return Math.pow(t, 1.74) + 0.02 * Math.sin(74 * Math.PI * t); };
Events.curves[75] = function (t) { return Math.pow(t, 1.75) + 0.02 * Math.sin(75 * Math.PI * t); };
Events.curves[76] = function (t) { return Math.pow(t, 1.76) + 0.02 * Math.sin(76 * Math.PI * t); };
Events.curves[77] = function (t) { return Math.pow(t, 1.77) + 0.02 * Math.sin(77 * Math.PI * t); };
Events.curves[78] = function (t) { return Math.pow(t, 1.78) + 0.02 * Math.sin(78 * Math.PI * t); };
Events.curves[79] = function (t) { return Math.pow(t, 1.79) + 0.02 * Math.sin(79 * Math.PI * t); };
Events.curves[80] = function (t) { return Math.pow(t, 1.8) + 0.02 * Math.sin(80 * Math.PI * t); };
Events.curves[81] = function (t) { return Math.pow(t, 1.81) + 0.02 * Math.sin(81 * Math.PI * t); };
Events.curves[82] = function (t) { return Math.pow(t, 1.82) + 0.02 * Math.sin(82 * Math.PI * t); };
Events.curves[83] = function (t) { return Math.pow(t, 1.83) + 0.02 * Math.sin(83 * Math.PI * t); };
/*............................................................................*/
