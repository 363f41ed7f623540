// What every screen and part is given, without an import.
declare global {
  type Translate = import("./text.js").Translate;
  type Texts = import("./text.js").Texts;
  type CallName = keyof typeof import("./api.js").CALLS;
  type Role = "viewer" | "sender" | "admin";

  interface CallOptions {
    /** Parts of the path. */
    path?: Record<string, string>;
    /** Absent ones are left out; "" is a bare name. */
    query?: Record<string, string | number | null | undefined>;
    /** Sent as JSON. */
    body?: any;
    /** Further header fields. */
    fields?: Record<string, string>;
    signal?: AbortSignal;
  }

  /** The session as the server describes it. */
  interface Session {
    operator: string;
    roles: string[];
    hubs: { name: string; role: Role }[];
    isServerAdmin: boolean;
    isFresh: boolean;
    freshUntil: string;
    idleUntil: string;
    endsAt: string;
    hasPassword: boolean;
    hasFactor: boolean;
    /** The identity provider by which the operator signs in; null with a password. */
    provider: string | null;
    settings: Record<string, any>;
    version: string;
    now: string;
    simulator: boolean;
    features: string[];
  }

  /** What a screen is given. */
  interface View {
    /** The named parts of the address. */
    params: Record<string, string>;
    query: URLSearchParams;
    /** The hub of the address, or the chosen one; "" where there is none. */
    hub: string;
    t: Translate;
    n: ReturnType<typeof import("./text.js").numbers>;
    time: import("./time.js").Times;
    language: string;
    session: Session;
    /** The highest role in a hub, or on the whole server. */
    role: (hub?: string) => "viewer" | "sender" | "admin" | null;
    go: (path: string, replace?: boolean) => void;
    /** Shows the sign-in page. */
    left: () => Promise<void>;
    refreshSession: () => Promise<void>;
    saveSettings: (settings: Record<string, any>) => Promise<void>;
    /** Loads a style sheet once. */
    style: (address: string) => Promise<any>;
    /** Says something that passes, after milliseconds, with something that can be done meanwhile. */
    toast: (text: string, action?: { label: string, act: () => any }, length?: number) => void;
  }

  /** What a screen makes of it. */
  interface OpenScreen {
    title: string;
    node: Element;
    leave?: () => void;
    /** The operator has signed in again: a screen that has this was kept as it was meanwhile. */
    back?: (view: View) => void;
    /** Whether what it has must not outlive the session. */
    isSecret?: () => boolean;
    /** Hears single keys; answers whether it has used one. */
    key?: (key: string) => boolean;
  }
}

export {};
