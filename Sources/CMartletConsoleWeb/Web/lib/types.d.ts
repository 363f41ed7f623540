/** What a screen is given. */
export interface View {
  /** The named parts of the address. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** The hub of the address, or the chosen one; "" where there is none. */
  hub: string;
  t: import("./text.js").Translate;
  n: ReturnType<typeof import("./text.js").numbers>;
  time: import("./time.js").Times;
  language: string;
  /** The session as the server tells it. */
  session: any;
  /** The highest role in a hub, or on the whole server. */
  role: (hub?: string) => "viewer" | "sender" | "admin" | null;
  go: (path: string, replace?: boolean) => void;
  refreshSession: () => Promise<void>;
  saveSettings: (settings: Record<string, any>) => Promise<void>;
  /** Says something that passes. */
  toast: (text: string) => void;
}

/** What a screen makes of it. */
export interface Screen {
  title: string;
  node: Element;
  leave?: () => void;
  /** Hears single keys; answers whether it has used one. */
  key?: (key: string) => boolean;
}
