// Runs before the page is drawn: sets the colours and the time zone that this browser has chosen.
{
  const root = document.documentElement;
  root.dataset.theme = localStorage.getItem('theme') ?? 'system';
  const zone = localStorage.getItem('zone') === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!document.cookie.split('; ').includes(`zone=${zone}`)) {
    const secure = location.protocol === 'https:' ? '; Secure' : '';
    document.cookie = `zone=${zone}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
    // A browser's first page is in UTC. Reloading it once the zone is known puts all times in that
    // zone.
    if (root.dataset.zone && root.dataset.zone !== zone && document.cookie.includes(`zone=${zone}`)) location.reload();
  }
}
