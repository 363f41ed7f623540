/** What a hub may be called, as the pattern of a field: the server's own rule. */
export const HUB_NAME = "[A-Za-z0-9][A-Za-z0-9._\\-]{0,259}";
