// The tail: appends new lines once a frame, and pauses while the reader scrolls back.

{
  const list = document.querySelector('[data-tail]');
  const stream = document.querySelector('[data-tail-stream]');
  const toEnd = document.querySelector('[data-end]');
  const omitted = document.querySelector('[data-omitted]');
  /** Maximum number of lines on the page, and of lines that wait. */
  const mostLines = 1_000;
  let lines = [];
  let dropped = 0;
  let follows = true;

  const scrollToEnd = () => (list.scrollTop = list.scrollHeight);
  const isAtEnd = () => list.scrollHeight - list.scrollTop - list.clientHeight < 40;

  function showPaused() {
    toEnd.hidden = follows;
    toEnd.textContent = lines.length === 0 ? 'To the end' : `${lines.length} new, to the end`;
  }

  function flush() {
    if (lines.length === 0 || !follows) return;
    const template = document.createElement('template');
    template.innerHTML = lines.join('');
    lines = [];
    showTimes(template.content);
    stream.querySelector('.empty')?.remove();
    list.append(template.content);
    while (list.childElementCount > mostLines) list.firstElementChild.remove();
    scrollToEnd();
  }

  stream.addEventListener('line', ({ detail }) => {
    lines.push(detail.data);
    if (lines.length > mostLines) lines = lines.slice(-mostLines);
    if (lines.length === 1) requestAnimationFrame(flush);
    if (!follows) showPaused();
  });

  stream.addEventListener('omitted', ({ detail }) => {
    dropped += JSON.parse(detail.data).count ?? 0;
    omitted.hidden = false;
    omitted.textContent = `${dropped.toLocaleString('en')} events were left out: more were stored than a stream shows. The export has all of them.`;
  });

  list.addEventListener('scroll', () => {
    follows = isAtEnd();
    showPaused();
    if (follows) requestAnimationFrame(flush);
  });

  toEnd.addEventListener('click', () => {
    follows = true;
    flush();
    scrollToEnd();
    showPaused();
    list.focus();
  });

  scrollToEnd();
}
