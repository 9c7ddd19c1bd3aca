/** Copies also where the page is not served securely and the clipboard API is missing. Answers whether it worked. */
export const copyText = async (text: string): Promise<boolean> => {
  if ('clipboard' in navigator) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'offscreen';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
};
