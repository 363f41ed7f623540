/** The rule of the server for the names of hubs, as the pattern of an input field. */
export const HUB_NAME = "[A-Za-z0-9][A-Za-z0-9._\\-]{0,259}";
