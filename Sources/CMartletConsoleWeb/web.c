// Written by Scripts/console-files: the files of Web, as a table.
#include "web.h"

// #embed is of C23; every compiler of Swift 6.2 and later has it.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file0[] = {
#embed "Web/base.css"
};

static const unsigned char file1[] = {
#embed "Web/icon.svg"
};

static const unsigned char file2[] = {
#embed "Web/index.html"
};

static const unsigned char file3[] = {
#embed "Web/lib/api.js"
};

static const unsigned char file4[] = {
#embed "Web/lib/dom.js"
};

static const unsigned char file5[] = {
#embed "Web/lib/screen.js"
};

static const unsigned char file6[] = {
#embed "Web/lib/text.js"
};

static const unsigned char file7[] = {
#embed "Web/lib/time.js"
};

static const unsigned char file8[] = {
#embed "Web/lib/zone.js"
};

static const unsigned char file9[] = {
#embed "Web/main.js"
};

static const unsigned char file10[] = {
#embed "Web/parts/chart/chart.js"
};

static const unsigned char file11[] = {
#embed "Web/parts/chart/table.js"
};

static const unsigned char file12[] = {
#embed "Web/parts/dialog/ask.js"
};

static const unsigned char file13[] = {
#embed "Web/parts/dialog/confirm.js"
};

static const unsigned char file14[] = {
#embed "Web/parts/dialog/dialog.js"
};

static const unsigned char file15[] = {
#embed "Web/parts/dialog/form.js"
};

static const unsigned char file16[] = {
#embed "Web/parts/dialog/text.de.js"
};

static const unsigned char file17[] = {
#embed "Web/parts/dialog/text.en.js"
};

static const unsigned char file18[] = {
#embed "Web/parts/dialog/text.ko.js"
};

static const unsigned char file19[] = {
#embed "Web/parts/expression/expression.css"
};

static const unsigned char file20[] = {
#embed "Web/parts/expression/expression.js"
};

static const unsigned char file21[] = {
#embed "Web/parts/expression/rules.js"
};

static const unsigned char file22[] = {
#embed "Web/parts/look/look.css"
};

static const unsigned char file23[] = {
#embed "Web/parts/look/look.js"
};

static const unsigned char file24[] = {
#embed "Web/parts/look/text.de.js"
};

static const unsigned char file25[] = {
#embed "Web/parts/look/text.en.js"
};

static const unsigned char file26[] = {
#embed "Web/parts/look/text.ko.js"
};

static const unsigned char file27[] = {
#embed "Web/parts/pane/pane.js"
};

static const unsigned char file28[] = {
#embed "Web/parts/shell/ending.js"
};

static const unsigned char file29[] = {
#embed "Web/parts/shell/keyboard.js"
};

static const unsigned char file30[] = {
#embed "Web/parts/shell/keys.js"
};

static const unsigned char file31[] = {
#embed "Web/parts/shell/menu.js"
};

static const unsigned char file32[] = {
#embed "Web/parts/shell/search.js"
};

static const unsigned char file33[] = {
#embed "Web/parts/shell/text.de.js"
};

static const unsigned char file34[] = {
#embed "Web/parts/shell/text.en.js"
};

static const unsigned char file35[] = {
#embed "Web/parts/shell/text.ko.js"
};

static const unsigned char file36[] = {
#embed "Web/push/worker.js"
};

static const unsigned char file37[] = {
#embed "Web/screens/account/account.css"
};

static const unsigned char file38[] = {
#embed "Web/screens/account/account.js"
};

static const unsigned char file39[] = {
#embed "Web/screens/account/text.de.js"
};

static const unsigned char file40[] = {
#embed "Web/screens/account/text.en.js"
};

static const unsigned char file41[] = {
#embed "Web/screens/account/text.ko.js"
};

static const unsigned char file42[] = {
#embed "Web/screens/campaigns/campaigns.css"
};

static const unsigned char file43[] = {
#embed "Web/screens/campaigns/campaigns.js"
};

static const unsigned char file44[] = {
#embed "Web/screens/campaigns/text.de.js"
};

static const unsigned char file45[] = {
#embed "Web/screens/campaigns/text.en.js"
};

static const unsigned char file46[] = {
#embed "Web/screens/campaigns/text.ko.js"
};

static const unsigned char file47[] = {
#embed "Web/screens/compose/campaign/campaign.js"
};

static const unsigned char file48[] = {
#embed "Web/screens/compose/campaign/text.de.js"
};

static const unsigned char file49[] = {
#embed "Web/screens/compose/campaign/text.en.js"
};

static const unsigned char file50[] = {
#embed "Web/screens/compose/campaign/text.ko.js"
};

static const unsigned char file51[] = {
#embed "Web/screens/compose/check/check.js"
};

static const unsigned char file52[] = {
#embed "Web/screens/compose/check/text.de.js"
};

static const unsigned char file53[] = {
#embed "Web/screens/compose/check/text.en.js"
};

static const unsigned char file54[] = {
#embed "Web/screens/compose/check/text.ko.js"
};

static const unsigned char file55[] = {
#embed "Web/screens/compose/compose.css"
};

static const unsigned char file56[] = {
#embed "Web/screens/compose/compose.js"
};

static const unsigned char file57[] = {
#embed "Web/screens/compose/draft.js"
};

static const unsigned char file58[] = {
#embed "Web/screens/compose/message.js"
};

static const unsigned char file59[] = {
#embed "Web/screens/compose/more/more.js"
};

static const unsigned char file60[] = {
#embed "Web/screens/compose/more/text.de.js"
};

static const unsigned char file61[] = {
#embed "Web/screens/compose/more/text.en.js"
};

static const unsigned char file62[] = {
#embed "Web/screens/compose/more/text.ko.js"
};

static const unsigned char file63[] = {
#embed "Web/screens/compose/out/out.js"
};

static const unsigned char file64[] = {
#embed "Web/screens/compose/out/text.de.js"
};

static const unsigned char file65[] = {
#embed "Web/screens/compose/out/text.en.js"
};

static const unsigned char file66[] = {
#embed "Web/screens/compose/out/text.ko.js"
};

static const unsigned char file67[] = {
#embed "Web/screens/compose/text.de.js"
};

static const unsigned char file68[] = {
#embed "Web/screens/compose/text.en.js"
};

static const unsigned char file69[] = {
#embed "Web/screens/compose/text.ko.js"
};

static const unsigned char file70[] = {
#embed "Web/screens/compose/when.js"
};

static const unsigned char file71[] = {
#embed "Web/screens/device/device.css"
};

static const unsigned char file72[] = {
#embed "Web/screens/device/device.js"
};

static const unsigned char file73[] = {
#embed "Web/screens/device/text.de.js"
};

static const unsigned char file74[] = {
#embed "Web/screens/device/text.en.js"
};

static const unsigned char file75[] = {
#embed "Web/screens/device/text.ko.js"
};

static const unsigned char file76[] = {
#embed "Web/screens/failed/failed.css"
};

static const unsigned char file77[] = {
#embed "Web/screens/failed/failed.js"
};

static const unsigned char file78[] = {
#embed "Web/screens/failed/text.de.js"
};

static const unsigned char file79[] = {
#embed "Web/screens/failed/text.en.js"
};

static const unsigned char file80[] = {
#embed "Web/screens/failed/text.ko.js"
};

static const unsigned char file81[] = {
#embed "Web/screens/hub/hub.css"
};

static const unsigned char file82[] = {
#embed "Web/screens/hub/hub.js"
};

static const unsigned char file83[] = {
#embed "Web/screens/hub/jobs/jobs.js"
};

static const unsigned char file84[] = {
#embed "Web/screens/hub/jobs/text.de.js"
};

static const unsigned char file85[] = {
#embed "Web/screens/hub/jobs/text.en.js"
};

static const unsigned char file86[] = {
#embed "Web/screens/hub/jobs/text.ko.js"
};

static const unsigned char file87[] = {
#embed "Web/screens/hub/text.de.js"
};

static const unsigned char file88[] = {
#embed "Web/screens/hub/text.en.js"
};

static const unsigned char file89[] = {
#embed "Web/screens/hub/text.ko.js"
};

static const unsigned char file90[] = {
#embed "Web/screens/now/now.css"
};

static const unsigned char file91[] = {
#embed "Web/screens/now/now.js"
};

static const unsigned char file92[] = {
#embed "Web/screens/now/running.js"
};

static const unsigned char file93[] = {
#embed "Web/screens/now/text.de.js"
};

static const unsigned char file94[] = {
#embed "Web/screens/now/text.en.js"
};

static const unsigned char file95[] = {
#embed "Web/screens/now/text.ko.js"
};

static const unsigned char file96[] = {
#embed "Web/screens/people/people.css"
};

static const unsigned char file97[] = {
#embed "Web/screens/people/people.js"
};

static const unsigned char file98[] = {
#embed "Web/screens/people/text.de.js"
};

static const unsigned char file99[] = {
#embed "Web/screens/people/text.en.js"
};

static const unsigned char file100[] = {
#embed "Web/screens/people/text.ko.js"
};

static const unsigned char file101[] = {
#embed "Web/screens/send/send.css"
};

static const unsigned char file102[] = {
#embed "Web/screens/send/send.js"
};

static const unsigned char file103[] = {
#embed "Web/screens/send/text.de.js"
};

static const unsigned char file104[] = {
#embed "Web/screens/send/text.en.js"
};

static const unsigned char file105[] = {
#embed "Web/screens/send/text.ko.js"
};

static const unsigned char file106[] = {
#embed "Web/screens/sends/sends.css"
};

static const unsigned char file107[] = {
#embed "Web/screens/sends/sends.js"
};

static const unsigned char file108[] = {
#embed "Web/screens/sends/text.de.js"
};

static const unsigned char file109[] = {
#embed "Web/screens/sends/text.en.js"
};

static const unsigned char file110[] = {
#embed "Web/screens/sends/text.ko.js"
};

static const unsigned char file111[] = {
#embed "Web/screens/server/backup/backup.js"
};

static const unsigned char file112[] = {
#embed "Web/screens/server/backup/text.de.js"
};

static const unsigned char file113[] = {
#embed "Web/screens/server/backup/text.en.js"
};

static const unsigned char file114[] = {
#embed "Web/screens/server/backup/text.ko.js"
};

static const unsigned char file115[] = {
#embed "Web/screens/server/server.css"
};

static const unsigned char file116[] = {
#embed "Web/screens/server/server.js"
};

static const unsigned char file117[] = {
#embed "Web/screens/server/text.de.js"
};

static const unsigned char file118[] = {
#embed "Web/screens/server/text.en.js"
};

static const unsigned char file119[] = {
#embed "Web/screens/server/text.ko.js"
};

static const unsigned char file120[] = {
#embed "Web/screens/signin/signin.css"
};

static const unsigned char file121[] = {
#embed "Web/screens/signin/signin.js"
};

static const unsigned char file122[] = {
#embed "Web/screens/signin/text.de.js"
};

static const unsigned char file123[] = {
#embed "Web/screens/signin/text.en.js"
};

static const unsigned char file124[] = {
#embed "Web/screens/signin/text.ko.js"
};

static const unsigned char file125[] = {
#embed "Web/screens/waiting/month.js"
};

static const unsigned char file126[] = {
#embed "Web/screens/waiting/text.de.js"
};

static const unsigned char file127[] = {
#embed "Web/screens/waiting/text.en.js"
};

static const unsigned char file128[] = {
#embed "Web/screens/waiting/text.ko.js"
};

static const unsigned char file129[] = {
#embed "Web/screens/waiting/waiting.css"
};

static const unsigned char file130[] = {
#embed "Web/screens/waiting/waiting.js"
};

static const unsigned char file131[] = {
#embed "Web/screens/welcome/text.de.js"
};

static const unsigned char file132[] = {
#embed "Web/screens/welcome/text.en.js"
};

static const unsigned char file133[] = {
#embed "Web/screens/welcome/text.ko.js"
};

static const unsigned char file134[] = {
#embed "Web/screens/welcome/welcome.css"
};

static const unsigned char file135[] = {
#embed "Web/screens/welcome/welcome.js"
};

static const unsigned char file136[] = {
#embed "Web/screens/why/text.de.js"
};

static const unsigned char file137[] = {
#embed "Web/screens/why/text.en.js"
};

static const unsigned char file138[] = {
#embed "Web/screens/why/text.ko.js"
};

static const unsigned char file139[] = {
#embed "Web/screens/why/why.css"
};

static const unsigned char file140[] = {
#embed "Web/screens/why/why.js"
};

static const unsigned char file141[] = {
#embed "Web/text.de.js"
};

static const unsigned char file142[] = {
#embed "Web/text.en.js"
};

static const unsigned char file143[] = {
#embed "Web/text.ko.js"
};

static const martlet_console_file files[] = {
    {"base.css", file0, sizeof file0},
    {"icon.svg", file1, sizeof file1},
    {"index.html", file2, sizeof file2},
    {"lib/api.js", file3, sizeof file3},
    {"lib/dom.js", file4, sizeof file4},
    {"lib/screen.js", file5, sizeof file5},
    {"lib/text.js", file6, sizeof file6},
    {"lib/time.js", file7, sizeof file7},
    {"lib/zone.js", file8, sizeof file8},
    {"main.js", file9, sizeof file9},
    {"parts/chart/chart.js", file10, sizeof file10},
    {"parts/chart/table.js", file11, sizeof file11},
    {"parts/dialog/ask.js", file12, sizeof file12},
    {"parts/dialog/confirm.js", file13, sizeof file13},
    {"parts/dialog/dialog.js", file14, sizeof file14},
    {"parts/dialog/form.js", file15, sizeof file15},
    {"parts/dialog/text.de.js", file16, sizeof file16},
    {"parts/dialog/text.en.js", file17, sizeof file17},
    {"parts/dialog/text.ko.js", file18, sizeof file18},
    {"parts/expression/expression.css", file19, sizeof file19},
    {"parts/expression/expression.js", file20, sizeof file20},
    {"parts/expression/rules.js", file21, sizeof file21},
    {"parts/look/look.css", file22, sizeof file22},
    {"parts/look/look.js", file23, sizeof file23},
    {"parts/look/text.de.js", file24, sizeof file24},
    {"parts/look/text.en.js", file25, sizeof file25},
    {"parts/look/text.ko.js", file26, sizeof file26},
    {"parts/pane/pane.js", file27, sizeof file27},
    {"parts/shell/ending.js", file28, sizeof file28},
    {"parts/shell/keyboard.js", file29, sizeof file29},
    {"parts/shell/keys.js", file30, sizeof file30},
    {"parts/shell/menu.js", file31, sizeof file31},
    {"parts/shell/search.js", file32, sizeof file32},
    {"parts/shell/text.de.js", file33, sizeof file33},
    {"parts/shell/text.en.js", file34, sizeof file34},
    {"parts/shell/text.ko.js", file35, sizeof file35},
    {"push/worker.js", file36, sizeof file36},
    {"screens/account/account.css", file37, sizeof file37},
    {"screens/account/account.js", file38, sizeof file38},
    {"screens/account/text.de.js", file39, sizeof file39},
    {"screens/account/text.en.js", file40, sizeof file40},
    {"screens/account/text.ko.js", file41, sizeof file41},
    {"screens/campaigns/campaigns.css", file42, sizeof file42},
    {"screens/campaigns/campaigns.js", file43, sizeof file43},
    {"screens/campaigns/text.de.js", file44, sizeof file44},
    {"screens/campaigns/text.en.js", file45, sizeof file45},
    {"screens/campaigns/text.ko.js", file46, sizeof file46},
    {"screens/compose/campaign/campaign.js", file47, sizeof file47},
    {"screens/compose/campaign/text.de.js", file48, sizeof file48},
    {"screens/compose/campaign/text.en.js", file49, sizeof file49},
    {"screens/compose/campaign/text.ko.js", file50, sizeof file50},
    {"screens/compose/check/check.js", file51, sizeof file51},
    {"screens/compose/check/text.de.js", file52, sizeof file52},
    {"screens/compose/check/text.en.js", file53, sizeof file53},
    {"screens/compose/check/text.ko.js", file54, sizeof file54},
    {"screens/compose/compose.css", file55, sizeof file55},
    {"screens/compose/compose.js", file56, sizeof file56},
    {"screens/compose/draft.js", file57, sizeof file57},
    {"screens/compose/message.js", file58, sizeof file58},
    {"screens/compose/more/more.js", file59, sizeof file59},
    {"screens/compose/more/text.de.js", file60, sizeof file60},
    {"screens/compose/more/text.en.js", file61, sizeof file61},
    {"screens/compose/more/text.ko.js", file62, sizeof file62},
    {"screens/compose/out/out.js", file63, sizeof file63},
    {"screens/compose/out/text.de.js", file64, sizeof file64},
    {"screens/compose/out/text.en.js", file65, sizeof file65},
    {"screens/compose/out/text.ko.js", file66, sizeof file66},
    {"screens/compose/text.de.js", file67, sizeof file67},
    {"screens/compose/text.en.js", file68, sizeof file68},
    {"screens/compose/text.ko.js", file69, sizeof file69},
    {"screens/compose/when.js", file70, sizeof file70},
    {"screens/device/device.css", file71, sizeof file71},
    {"screens/device/device.js", file72, sizeof file72},
    {"screens/device/text.de.js", file73, sizeof file73},
    {"screens/device/text.en.js", file74, sizeof file74},
    {"screens/device/text.ko.js", file75, sizeof file75},
    {"screens/failed/failed.css", file76, sizeof file76},
    {"screens/failed/failed.js", file77, sizeof file77},
    {"screens/failed/text.de.js", file78, sizeof file78},
    {"screens/failed/text.en.js", file79, sizeof file79},
    {"screens/failed/text.ko.js", file80, sizeof file80},
    {"screens/hub/hub.css", file81, sizeof file81},
    {"screens/hub/hub.js", file82, sizeof file82},
    {"screens/hub/jobs/jobs.js", file83, sizeof file83},
    {"screens/hub/jobs/text.de.js", file84, sizeof file84},
    {"screens/hub/jobs/text.en.js", file85, sizeof file85},
    {"screens/hub/jobs/text.ko.js", file86, sizeof file86},
    {"screens/hub/text.de.js", file87, sizeof file87},
    {"screens/hub/text.en.js", file88, sizeof file88},
    {"screens/hub/text.ko.js", file89, sizeof file89},
    {"screens/now/now.css", file90, sizeof file90},
    {"screens/now/now.js", file91, sizeof file91},
    {"screens/now/running.js", file92, sizeof file92},
    {"screens/now/text.de.js", file93, sizeof file93},
    {"screens/now/text.en.js", file94, sizeof file94},
    {"screens/now/text.ko.js", file95, sizeof file95},
    {"screens/people/people.css", file96, sizeof file96},
    {"screens/people/people.js", file97, sizeof file97},
    {"screens/people/text.de.js", file98, sizeof file98},
    {"screens/people/text.en.js", file99, sizeof file99},
    {"screens/people/text.ko.js", file100, sizeof file100},
    {"screens/send/send.css", file101, sizeof file101},
    {"screens/send/send.js", file102, sizeof file102},
    {"screens/send/text.de.js", file103, sizeof file103},
    {"screens/send/text.en.js", file104, sizeof file104},
    {"screens/send/text.ko.js", file105, sizeof file105},
    {"screens/sends/sends.css", file106, sizeof file106},
    {"screens/sends/sends.js", file107, sizeof file107},
    {"screens/sends/text.de.js", file108, sizeof file108},
    {"screens/sends/text.en.js", file109, sizeof file109},
    {"screens/sends/text.ko.js", file110, sizeof file110},
    {"screens/server/backup/backup.js", file111, sizeof file111},
    {"screens/server/backup/text.de.js", file112, sizeof file112},
    {"screens/server/backup/text.en.js", file113, sizeof file113},
    {"screens/server/backup/text.ko.js", file114, sizeof file114},
    {"screens/server/server.css", file115, sizeof file115},
    {"screens/server/server.js", file116, sizeof file116},
    {"screens/server/text.de.js", file117, sizeof file117},
    {"screens/server/text.en.js", file118, sizeof file118},
    {"screens/server/text.ko.js", file119, sizeof file119},
    {"screens/signin/signin.css", file120, sizeof file120},
    {"screens/signin/signin.js", file121, sizeof file121},
    {"screens/signin/text.de.js", file122, sizeof file122},
    {"screens/signin/text.en.js", file123, sizeof file123},
    {"screens/signin/text.ko.js", file124, sizeof file124},
    {"screens/waiting/month.js", file125, sizeof file125},
    {"screens/waiting/text.de.js", file126, sizeof file126},
    {"screens/waiting/text.en.js", file127, sizeof file127},
    {"screens/waiting/text.ko.js", file128, sizeof file128},
    {"screens/waiting/waiting.css", file129, sizeof file129},
    {"screens/waiting/waiting.js", file130, sizeof file130},
    {"screens/welcome/text.de.js", file131, sizeof file131},
    {"screens/welcome/text.en.js", file132, sizeof file132},
    {"screens/welcome/text.ko.js", file133, sizeof file133},
    {"screens/welcome/welcome.css", file134, sizeof file134},
    {"screens/welcome/welcome.js", file135, sizeof file135},
    {"screens/why/text.de.js", file136, sizeof file136},
    {"screens/why/text.en.js", file137, sizeof file137},
    {"screens/why/text.ko.js", file138, sizeof file138},
    {"screens/why/why.css", file139, sizeof file139},
    {"screens/why/why.js", file140, sizeof file140},
    {"text.de.js", file141, sizeof file141},
    {"text.en.js", file142, sizeof file142},
    {"text.ko.js", file143, sizeof file143},
};

size_t martlet_console_file_count(void) { return sizeof files / sizeof *files; }

martlet_console_file martlet_console_file_at(size_t index) { return files[index]; }
