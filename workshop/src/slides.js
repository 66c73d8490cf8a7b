"use strict";
const slides = [...document.querySelectorAll("section")];
const steps = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
document.addEventListener("keydown", (event) => {
  const step = steps[event.key];
  if (!step) return;
  event.preventDefault();
  const tops = slides.map((slide) => Math.abs(slide.getBoundingClientRect().top));
  const here = tops.indexOf(Math.min(...tops));
  const next = slides[Math.min(slides.length - 1, Math.max(0, here + step))];
  next.scrollIntoView();
});
