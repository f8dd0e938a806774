// The behaviour of every page. Without it, all links and forms still work, and times are in UTC.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const one = (selector, root = document) => root.querySelector(selector);

// Times: relative ones are kept up to date, exact ones follow the chosen zone.

// The server has written all other times of the page in this zone.
const inUtc = () => document.documentElement.dataset.zone === 'UTC';
const padded = (value, length = 2) => String(value).padStart(length, '0');

function exactText(date) {
  if (inUtc()) return `${date.toISOString().slice(0, 10)} ${date.toISOString().slice(11, 23)} UTC`;
  const day = `${date.getFullYear()}-${padded(date.getMonth() + 1)}-${padded(date.getDate())}`;
  const time = `${padded(date.getHours())}:${padded(date.getMinutes())}:${padded(date.getSeconds())}`;
  const offset = -date.getTimezoneOffset();
  const zone = `${offset < 0 ? '−' : '+'}${padded(Math.floor(Math.abs(offset) / 60))}:${padded(Math.abs(offset) % 60)}`;
  return `${day} ${time}.${padded(date.getMilliseconds(), 3)} ${zone}`;
}

function oneUnit(ms) {
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.floor(ms / 3_600_000)} h`;
  return `${Math.floor(ms / 86_400_000).toLocaleString('en')} d`;
}

function ageText(ms) {
  if (ms < -5_000) return `in ${oneUnit(-ms)}`;
  return ms < 2_000 ? 'just now' : `${oneUnit(ms)} ago`;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function showTimes(root = document) {
  const now = Date.now();
  for (const element of all('time[data-age]', root)) {
    const date = new Date(element.dateTime);
    setText(element, ageText(now - date));
    element.title = exactText(date);
  }
  for (const element of all('time[data-clock]', root)) {
    element.title = exactText(new Date(element.dateTime));
    setText(element, element.title.slice(11, 23));
  }
  for (const element of all('time[data-exact]', root)) setText(element, exactText(new Date(element.dateTime)));
  for (const element of all('[data-since]', root)) {
    setText(element, `${oneUnit(Math.max(0, now - new Date(element.dataset.since)))} so far`);
  }
}

// Choices that this browser keeps.

for (const input of all('[data-choice]')) {
  const first = { zone: 'local', theme: 'system' }[input.name];
  input.checked = (localStorage.getItem(input.name) ?? first) === input.value;
  input.addEventListener('change', () => {
    localStorage.setItem(input.name, input.value);
    if (input.name === 'theme') document.documentElement.dataset.theme = input.value;
    else {
      const zone = input.value === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
      document.cookie = `zone=${zone}; Path=/; Max-Age=31536000; SameSite=Lax${location.protocol === 'https:' ? '; Secure' : ''}`;
      location.reload();
    }
  });
}

// Copying.

async function copy(button) {
  try {
    const from = button.dataset.copyFrom;
    const text = from === undefined ? button.dataset.copy : JSON.stringify(await (await get(from)).json(), null, 2);
    await navigator.clipboard.writeText(text);
    button.classList.add('copied');
    announce('Copied');
  } catch {
    announce('Copying failed');
  }
  setTimeout(() => button.classList.remove('copied'), 1_200);
}

async function get(address) {
  const answer = await fetch(address, { headers: { Accept: 'application/json' } });
  if (answer.status === 401) showSessionEnded();
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`);
  return answer;
}

const announcer = document.createElement('div');
announcer.className = 'announcer';
announcer.setAttribute('role', 'status');
document.body.append(announcer);

function announce(text) {
  announcer.textContent = text;
  clearTimeout(announcer.timeout);
  announcer.timeout = setTimeout(() => (announcer.textContent = ''), 2_000);
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy], [data-copy-from]');
  if (button) void copy(button);
  if (event.target.closest('[data-keys]')) one('#keys').showModal();
  if (event.target.closest('[data-pill]')) showWaiting();
  for (const menu of all('details.menu[open]')) if (!menu.contains(event.target)) menu.open = false;
});

// The focused name, if it is cut, is shown in full. The mouse has titles.

const tip = document.createElement('div');
tip.className = 'tip';
tip.hidden = true;
tip.setAttribute('aria-hidden', 'true');
document.body.append(tip);

document.addEventListener('focusin', ({ target }) => {
  const isCut =
    target.scrollWidth > target.clientWidth || target.closest('td')?.scrollWidth > target.closest('td')?.clientWidth;
  tip.hidden = !(target.title && isCut && target.matches(':focus-visible'));
  if (tip.hidden) return;
  setText(tip, target.title);
  const { left, bottom } = target.getBoundingClientRect();
  tip.style.top = `${bottom + scrollY + 5}px`;
  tip.style.left = `${Math.max(12, Math.min(left, innerWidth - tip.offsetWidth - 12))}px`;
});
document.addEventListener('focusout', () => (tip.hidden = true));

// Forms leave empty fields out of the address.

document.addEventListener('formdata', ({ formData }) => {
  for (const [name, value] of Array.from(formData)) if (value === '') formData.delete(name);
});

// The session.

function showSessionEnded() {
  const notice = one('#session-ended');
  if (notice === null) return;
  notice.hidden = false;
  const link = one('[data-login]', notice);
  link.href = `${link.getAttribute('href').split('?')[0]}?to=${encodeURIComponent(location.pathname + location.search)}`;
}

document.addEventListener('htmx:response:error', ({ detail }) => {
  if (detail.ctx.response.status !== 401) return;
  detail.ctx.swap = 'none';
  showSessionEnded();
});

// Live pages.

let live = ['', 'Live'];

/** A page whose record is behind is connected, but not live. */
function showLive(state, text) {
  live = [state, text];
  const isBehind = state === 'on' && one('#blindness[data-behind]') !== null;
  for (const element of all('[data-live]')) {
    if (state !== '') element.dataset.state = isBehind ? 'off' : state;
    setText(element, isBehind ? 'Behind' : text);
  }
}

document.addEventListener('htmx:sse:after:connection', ({ detail }) => {
  if (detail.connection.status === 200) showLive('on', 'Live');
});
document.addEventListener('htmx:sse:error', ({ detail }) => {
  if (detail.status === 401) showSessionEnded();
  showLive('off', 'Reconnecting …');
});
// htmx reconnects when a stream breaks, but not when its first request fails.
for (const name of ['htmx:response:error', 'htmx:error']) {
  document.addEventListener(name, ({ target, detail }) => {
    if (!target.hasAttribute?.('hx-sse:connect') || detail.ctx?.response?.status === 401) return;
    showLive('off', 'Reconnecting …');
    setTimeout(() => htmx.trigger(target, 'retry'), 3_000);
  });
}
document.addEventListener('htmx:sse:close', () => showLive('off', 'Not live'));

/** New rows wait until the reader asks for them: nothing in view moves. */
const waiting = new Map();
const mostRows = 500;

function rowOf(markup) {
  const template = document.createElement('template');
  template.innerHTML = markup;
  showTimes(template.content);
  return template.content.querySelector('[data-row]');
}

function updateRow(row) {
  const known = document.getElementById(row.id);
  if (known === null) return false;
  const focused = known.contains(document.activeElement);
  known.replaceWith(row);
  if (focused) one('.row-link', row)?.focus();
  row.classList.add('changed');
  return true;
}

for (const list of all('[data-live-list]')) {
  list.addEventListener('row', ({ detail }) => {
    const row = rowOf(detail.data);
    if (row === null || updateRow(row)) return;
    waiting.set(row.id, row);
    if (waiting.size > mostRows) waiting.delete(waiting.keys().next().value);
    if (one('#rows').childElementCount === 0) showWaiting();
    showPill();
  });
  list.addEventListener('change', ({ detail }) => {
    const row = rowOf(detail.data);
    if (row === null || updateRow(row)) return;
    if (waiting.has(row.id)) waiting.set(row.id, row);
  });
}

function showPill() {
  const pill = one('[data-pill]');
  if (pill === null) return;
  pill.hidden = waiting.size === 0;
  const count = waiting.size === mostRows ? `${mostRows} or more` : waiting.size;
  setText(pill, `${count} new ${waiting.size === 1 ? 'execution' : 'executions'}`);
}

function showWaiting() {
  const rows = one('#rows');
  for (const row of waiting.values()) {
    row.classList.add('changed');
    rows.prepend(row);
  }
  waiting.clear();
  const table = rows.closest('table');
  table.hidden = false;
  table.parentElement.querySelector('.empty')?.remove();
  showPill();
  scrollTo({ top: 0 });
  one('.row-link', rows)?.focus({ preventScroll: true });
}

// After "load more", reloading the address shows as many rows.

document.addEventListener('htmx:after:swap', () => {
  showTimes();
  showLive(...live);
  const rows = one('#rows');
  if (rows === null || one('[data-live-list]') === null) return;
  const shown = Math.min(mostRows, rows.childElementCount);
  const address = new URL(location.href);
  if (shown <= 50 || address.searchParams.has('cursor')) return;
  address.searchParams.set('limit', shown);
  history.replaceState(history.state, '', address);
});

// Keys.

const isField = (element) => element?.matches?.('input:not([type=radio], [type=checkbox]), textarea, select');

function move(step) {
  const rows = all('[data-row] .row-link, a.row-link:not([data-row] *)');
  if (rows.length === 0) return;
  const here = rows.findIndex(
    (row) => row === document.activeElement || row.closest('[data-row]')?.contains(document.activeElement),
  );
  const next =
    rows[here === -1 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, here + step))];
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

const screens = { o: 0, a: 1, e: 2, r: 3, l: 4, t: 5 };
let afterG = 0;

/** Arrow keys move from bar to bar within a chart. */
function moveInChart(step) {
  const bars = all('a', document.activeElement?.closest?.('[data-bars]') ?? document.createElement('i'));
  const next = bars[bars.indexOf(document.activeElement) + step];
  if (next === undefined) return false;
  for (const bar of bars) bar.setAttribute('tabindex', bar === next ? '0' : '-1');
  next.focus();
  return true;
}

function press(key) {
  if (key === 'ArrowRight') return moveInChart(1);
  if (key === 'ArrowLeft') return moveInChart(-1);
  if (Date.now() - afterG < 1_500 && key in screens) {
    all('nav[aria-label="Screens"] a')[screens[key]]?.click();
    return true;
  }
  if (key === 'g') afterG = Date.now();
  else if (key === '/') one('[data-search]')?.focus();
  else if (key === 'j') move(1);
  else if (key === 'k') move(-1);
  else if (key === 'n') one('[data-pill]:not([hidden])')?.click();
  else if (key === '?') one('#keys')?.showModal();
  else return false;
  return true;
}

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    const menu = event.target.closest?.('details.menu[open]');
    if (menu) {
      menu.open = false;
      one('summary', menu).focus();
    } else if (isField(event.target)) event.target.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target) || one('dialog[open]')) return;
  if (press(event.key)) event.preventDefault();
});

showTimes();
setInterval(showTimes, 5_000);
