import { useEffect, useState } from "react";

interface DownloadProps {
  readonly content: string | Blob;
  readonly name: string;
  readonly label: string;
  readonly isPrimary?: boolean;
}

/** A link to a file that this page has in its memory. */
export function Download({ content, name, label, isPrimary = false }: DownloadProps) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  return (
    <a className={isPrimary ? "button primary" : "button"} href={url} download={name}>
      {label}
    </a>
  );
}
