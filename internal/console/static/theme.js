// Loaded before the page is drawn: the colours that this browser has chosen, and its time zone.
{
  const root = document.documentElement;
  root.dataset.theme = localStorage.getItem('theme') ?? 'system';
  const zone = localStorage.getItem('zone') === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!document.cookie.split('; ').includes(`zone=${zone}`)) {
    const secure = location.protocol === 'https:' ? '; Secure' : '';
    document.cookie = `zone=${zone}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
    // The first page of a browser is in UTC: once it is told the zone, all times are in it.
    if (root.dataset.zone && root.dataset.zone !== zone && document.cookie.includes(`zone=${zone}`)) location.reload();
  }
}
