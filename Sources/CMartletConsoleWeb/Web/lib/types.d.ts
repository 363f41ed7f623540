// The types that every screen and part can use without an import.
declare global {
  type Translate = import("./text.js").Translate;
  type Texts = import("./text.js").Texts;
  type CallName = keyof typeof import("./api.js").CALLS;
  type Role = "viewer" | "sender" | "admin";

  interface CallOptions {
    /** The values of the names in braces in the path. */
    path?: Record<string, string>;
    /** The query. A value of null or undefined is left out; the value "" gives a name without `=`. */
    query?: Record<string, string | number | null | undefined>;
    /** The body, which is sent as JSON. */
    body?: any;
    /** Header fields in addition to the usual ones. */
    fields?: Record<string, string>;
    signal?: AbortSignal;
    /** Milliseconds after which the server counts as not reached; instead of a signal. */
    timeout?: number;
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
    /** The name of the identity provider by which the operator signs in; null if the operator has a password. */
    provider: string | null;
    settings: Record<string, any>;
    version: string;
    now: string;
    simulator: boolean;
    features: string[];
  }

  /** The data and functions that a screen gets from the page's frame. */
  interface View {
    /** The named parts of the address. */
    params: Record<string, string>;
    query: URLSearchParams;
    /** The hub that the address names, or else the chosen hub; "" if there is none. */
    hub: string;
    t: Translate;
    n: ReturnType<typeof import("./text.js").numbers>;
    time: import("./time.js").Times;
    language: string;
    session: Session;
    /** Returns the operator's highest role in a hub, or for the whole server if no hub is given. */
    role: (hub?: string) => "viewer" | "sender" | "admin" | null;
    go: (path: string, replace?: boolean) => void;
    /** Forgets the session that was signed out of, and shows the sign-in page. */
    left: () => Promise<void>;
    refreshSession: () => Promise<void>;
    saveSettings: (settings: Record<string, any>) => Promise<void>;
    /** Loads a style sheet once. */
    style: (address: string) => Promise<any>;
    /** Shows a message for `length` milliseconds, with a button for `action`. */
    toast: (text: string, action?: { label: string, act: () => any }, length?: number) => void;
  }

  /** An open screen. */
  interface OpenScreen {
    title: string;
    node: Element;
    leave?: () => void;
    /** Called when the same operator has signed in again. A screen with this function is kept when the session ends. */
    back?: (view: View) => void;
    /** Returns whether the screen must not be kept when the session ends, because its content is confidential. */
    isSecret?: () => boolean;
    /** Handles a key that was pressed without a modifier; returns whether the screen has used the key. */
    key?: (key: string) => boolean;
  }
}

export {};
