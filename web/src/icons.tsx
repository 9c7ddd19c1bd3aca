import type { VNode } from 'preact';

const icon =
  (...paths: readonly string[]) =>
  (): VNode => (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      {paths.map((path) => (
        <path key={path} d={path} />
      ))}
    </svg>
  );

export const Wing = icon('M4 17.5c7 .4 12.7-3.5 16-11.5', 'M6.2 12.8c4.6 0 8.2-2.3 10.4-6.8', 'M8 8.6c2.2-.2 4-1.2 5.2-3.1');
export const Menu = icon('M4 7h16', 'M4 12h16', 'M4 17h10');
export const Pen = icon('M12 20h8', 'M16.5 4.5a2.1 2.1 0 0 1 3 3L8 19l-4 1 1-4z');
export const Send = icon('M12 19V5', 'M6 11l6-6 6 6');
export const Stop = (): VNode => (
  <svg class="icon" viewBox="0 0 24 24" width="20" height="20" fill="currentColor" aria-hidden="true">
    <rect x="6.5" y="6.5" width="11" height="11" rx="2.2" />
  </svg>
);
export const Clip = icon('M20 11.5l-8.3 8.3a5 5 0 0 1-7-7l8.6-8.6a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4l7.7-7.7');
export const Close = icon('M6 6l12 12', 'M18 6L6 18');
export const Copy = icon('M9 9h10v10H9z', 'M15 9V5H5v10h4');
export const Check = icon('M5 12.5l4.5 4.5L19 7.5');
export const Reply = icon('M9 7l-5 5 5 5', 'M4 12h9a7 7 0 0 1 7 7');
export const Sun = icon('M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z', 'M12 2.5v2', 'M12 19.5v2', 'M2.5 12h2', 'M19.5 12h2', 'M5.3 5.3l1.4 1.4', 'M17.3 17.3l1.4 1.4', 'M5.3 18.7l1.4-1.4', 'M17.3 6.7l1.4-1.4');
export const Moon = icon('M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z');
export const Trash = icon('M5 7h14', 'M10 7V4.5h4V7', 'M7 7l.8 12.5h8.4L17 7');
export const People = icon('M9 5a3.2 3.2 0 1 0 0 6.4A3.2 3.2 0 0 0 9 5z', 'M3 19.5c.4-3.6 2.8-5.4 6-5.4s5.600 1.800 6 5.400', 'M16 5.400a3 3 0 0 1 0 5.600', 'M18 14.400c1.800.700 2.800 2.400 3 5.100');
export const Leave = icon('M14 4.5H6.5v15H14', 'M11 12h9.5', 'M17 8.5l3.5 3.5-3.5 3.5');
export const Down = icon('M12 5v14', 'M6 13l6 6 6-6');
export const File = icon('M7 3.5h7l4 4v13H7z', 'M14 3.5v4h4');
export const Alert = icon('M12 8v5', 'M12 16.5v.01', 'M12 3.5l9 16H3z');
export const Clock = icon('M12 7.5V12l3 2', 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z');
