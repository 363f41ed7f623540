// Sends to the devices with a tag, one after another, for the floor of a broadcast.
#pragma once

// Answers POST of a message, whose tags are "a" or "a && !b", once it is accepted, and GET of its telemetry.
void broadcasts(const char *folder, const char *port, const char *certificate);
