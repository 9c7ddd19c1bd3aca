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

export const Wing = icon('M4 17.5c7 .4 12.700-3.500 16-11.500', 'M6.200 12.800c4.600 0 8.200-2.300 10.400-6.800', 'M8 8.600c2.200-.2 4-1.200 5.200-3.100');
export const Menu = icon('M4 7h16', 'M4 12h16', 'M4 17h10');
export const Pen = icon('M12 20h8', 'M16.500 4.500a2.100 2.100 0 0 1 3 3L8 19l-4 1 1-4z');
export const Send = icon('M12 19V5', 'M6 11l6-6 6 6');
export const Stop = icon('M7.500 7.500h9v9h-9z');
export const Clip = icon('M20 11.500l-8.300 8.300a5 5 0 0 1-7-7l8.600-8.600a3.300 3.300 0 0 1 4.700 4.700l-8.500 8.500a1.700 1.700 0 0 1-2.400-2.400l7.700-7.700');
export const Close = icon('M6 6l12 12', 'M18 6L6 18');
export const Copy = icon('M9 9h10v10H9z', 'M15 9V5H5v10h4');
export const Check = icon('M5 12.500l4.500 4.500L19 7.500');
export const Reply = icon('M9 7l-5 5 5 5', 'M4 12h9a7 7 0 0 1 7 7');
export const Sun = icon('M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z', 'M12 2.500v2', 'M12 19.500v2', 'M2.500 12h2', 'M19.500 12h2', 'M5.300 5.300l1.400 1.400', 'M17.300 17.300l1.400 1.400', 'M5.300 18.700l1.400-1.400', 'M17.300 6.700l1.400-1.400');
export const Moon = icon('M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z');
export const Trash = icon('M5 7h14', 'M10 7V4.500h4V7', 'M7 7l.8 12.500h8.400L17 7');
export const Leave = icon('M14 4.500H6.500v15H14', 'M11 12h9.500', 'M17 8.500l3.500 3.500-3.500 3.500');
export const Down = icon('M12 5v14', 'M6 13l6 6 6-6');
export const File = icon('M7 3.500h7l4 4v13H7z', 'M14 3.500v4h4');
export const Alert = icon('M12 8v5', 'M12 16.500v.01', 'M12 3.500l9 16H3z');
export const Clock = icon('M12 7.500V12l3 2', 'M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17z');
