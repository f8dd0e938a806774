// Loaded before the page is drawn: the colours that this browser has chosen.
document.documentElement.dataset.theme = localStorage.getItem('theme') ?? 'system';
