export type Theme = 'light' | 'dark';

const key = 'hermes.theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');

export const currentTheme = (): Theme => {
  const chosen = document.documentElement.dataset['theme'];
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return systemDark.matches ? 'dark' : 'light';
};

/** Choosing what the system says anyway is following the system again. */
export const chooseTheme = (theme: Theme): void => {
  if (theme === (systemDark.matches ? 'dark' : 'light')) {
    delete document.documentElement.dataset['theme'];
    localStorage.removeItem(key);
    return;
  }
  document.documentElement.dataset['theme'] = theme;
  localStorage.setItem(key, theme);
};

export const followSystemTheme = (listener: () => void): (() => void) => {
  systemDark.addEventListener('change', listener);
  return () => systemDark.removeEventListener('change', listener);
};
