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
#embed "Web/lib/drafts.js"
};

static const unsigned char file6[] = {
#embed "Web/lib/names.js"
};

static const unsigned char file7[] = {
#embed "Web/lib/screen.js"
};

static const unsigned char file8[] = {
#embed "Web/lib/text.js"
};

static const unsigned char file9[] = {
#embed "Web/lib/time.js"
};

static const unsigned char file10[] = {
#embed "Web/lib/zone.js"
};

static const unsigned char file11[] = {
#embed "Web/main.js"
};

static const unsigned char file12[] = {
#embed "Web/parts/chart/chart.js"
};

static const unsigned char file13[] = {
#embed "Web/parts/chart/table.js"
};

static const unsigned char file14[] = {
#embed "Web/parts/chart/text.de.js"
};

static const unsigned char file15[] = {
#embed "Web/parts/chart/text.en.js"
};

static const unsigned char file16[] = {
#embed "Web/parts/chart/text.ko.js"
};

static const unsigned char file17[] = {
#embed "Web/parts/dialog/ask.js"
};

static const unsigned char file18[] = {
#embed "Web/parts/dialog/command.js"
};

static const unsigned char file19[] = {
#embed "Web/parts/dialog/confirm.js"
};

static const unsigned char file20[] = {
#embed "Web/parts/dialog/dialog.js"
};

static const unsigned char file21[] = {
#embed "Web/parts/dialog/form.js"
};

static const unsigned char file22[] = {
#embed "Web/parts/dialog/text.de.js"
};

static const unsigned char file23[] = {
#embed "Web/parts/dialog/text.en.js"
};

static const unsigned char file24[] = {
#embed "Web/parts/dialog/text.ko.js"
};

static const unsigned char file25[] = {
#embed "Web/parts/expression/expression.css"
};

static const unsigned char file26[] = {
#embed "Web/parts/expression/expression.js"
};

static const unsigned char file27[] = {
#embed "Web/parts/expression/rules.js"
};

static const unsigned char file28[] = {
#embed "Web/parts/held/held.js"
};

static const unsigned char file29[] = {
#embed "Web/parts/held/text.de.js"
};

static const unsigned char file30[] = {
#embed "Web/parts/held/text.en.js"
};

static const unsigned char file31[] = {
#embed "Web/parts/held/text.ko.js"
};

static const unsigned char file32[] = {
#embed "Web/parts/look/look.css"
};

static const unsigned char file33[] = {
#embed "Web/parts/look/look.js"
};

static const unsigned char file34[] = {
#embed "Web/parts/look/text.de.js"
};

static const unsigned char file35[] = {
#embed "Web/parts/look/text.en.js"
};

static const unsigned char file36[] = {
#embed "Web/parts/look/text.ko.js"
};

static const unsigned char file37[] = {
#embed "Web/parts/outage/outage.js"
};

static const unsigned char file38[] = {
#embed "Web/parts/outage/text.de.js"
};

static const unsigned char file39[] = {
#embed "Web/parts/outage/text.en.js"
};

static const unsigned char file40[] = {
#embed "Web/parts/outage/text.ko.js"
};

static const unsigned char file41[] = {
#embed "Web/parts/outcome/outcome.js"
};

static const unsigned char file42[] = {
#embed "Web/parts/outcome/text.de.js"
};

static const unsigned char file43[] = {
#embed "Web/parts/outcome/text.en.js"
};

static const unsigned char file44[] = {
#embed "Web/parts/outcome/text.ko.js"
};

static const unsigned char file45[] = {
#embed "Web/parts/pane/fresh.js"
};

static const unsigned char file46[] = {
#embed "Web/parts/pane/pane.js"
};

static const unsigned char file47[] = {
#embed "Web/parts/person/person.css"
};

static const unsigned char file48[] = {
#embed "Web/parts/person/person.js"
};

static const unsigned char file49[] = {
#embed "Web/parts/person/text.de.js"
};

static const unsigned char file50[] = {
#embed "Web/parts/person/text.en.js"
};

static const unsigned char file51[] = {
#embed "Web/parts/person/text.ko.js"
};

static const unsigned char file52[] = {
#embed "Web/parts/provider/confirm.js"
};

static const unsigned char file53[] = {
#embed "Web/parts/provider/provider.js"
};

static const unsigned char file54[] = {
#embed "Web/parts/provider/text.de.js"
};

static const unsigned char file55[] = {
#embed "Web/parts/provider/text.en.js"
};

static const unsigned char file56[] = {
#embed "Web/parts/provider/text.ko.js"
};

static const unsigned char file57[] = {
#embed "Web/parts/qr/code.js"
};

static const unsigned char file58[] = {
#embed "Web/parts/qr/qr.js"
};

static const unsigned char file59[] = {
#embed "Web/parts/shell/ending.js"
};

static const unsigned char file60[] = {
#embed "Web/parts/shell/keyboard.js"
};

static const unsigned char file61[] = {
#embed "Web/parts/shell/keys.js"
};

static const unsigned char file62[] = {
#embed "Web/parts/shell/menu.js"
};

static const unsigned char file63[] = {
#embed "Web/parts/shell/search.js"
};

static const unsigned char file64[] = {
#embed "Web/parts/shell/text.de.js"
};

static const unsigned char file65[] = {
#embed "Web/parts/shell/text.en.js"
};

static const unsigned char file66[] = {
#embed "Web/parts/shell/text.ko.js"
};

static const unsigned char file67[] = {
#embed "Web/push/worker.js"
};

static const unsigned char file68[] = {
#embed "Web/screens/account/account.css"
};

static const unsigned char file69[] = {
#embed "Web/screens/account/account.js"
};

static const unsigned char file70[] = {
#embed "Web/screens/account/text.de.js"
};

static const unsigned char file71[] = {
#embed "Web/screens/account/text.en.js"
};

static const unsigned char file72[] = {
#embed "Web/screens/account/text.ko.js"
};

static const unsigned char file73[] = {
#embed "Web/screens/campaigns/campaigns.css"
};

static const unsigned char file74[] = {
#embed "Web/screens/campaigns/campaigns.js"
};

static const unsigned char file75[] = {
#embed "Web/screens/campaigns/text.de.js"
};

static const unsigned char file76[] = {
#embed "Web/screens/campaigns/text.en.js"
};

static const unsigned char file77[] = {
#embed "Web/screens/campaigns/text.ko.js"
};

static const unsigned char file78[] = {
#embed "Web/screens/compose/campaign/campaign.js"
};

static const unsigned char file79[] = {
#embed "Web/screens/compose/campaign/text.de.js"
};

static const unsigned char file80[] = {
#embed "Web/screens/compose/campaign/text.en.js"
};

static const unsigned char file81[] = {
#embed "Web/screens/compose/campaign/text.ko.js"
};

static const unsigned char file82[] = {
#embed "Web/screens/compose/check/check.js"
};

static const unsigned char file83[] = {
#embed "Web/screens/compose/check/text.de.js"
};

static const unsigned char file84[] = {
#embed "Web/screens/compose/check/text.en.js"
};

static const unsigned char file85[] = {
#embed "Web/screens/compose/check/text.ko.js"
};

static const unsigned char file86[] = {
#embed "Web/screens/compose/command.js"
};

static const unsigned char file87[] = {
#embed "Web/screens/compose/compose.css"
};

static const unsigned char file88[] = {
#embed "Web/screens/compose/compose.js"
};

static const unsigned char file89[] = {
#embed "Web/screens/compose/draft.js"
};

static const unsigned char file90[] = {
#embed "Web/screens/compose/drafts/drafts.js"
};

static const unsigned char file91[] = {
#embed "Web/screens/compose/drafts/text.de.js"
};

static const unsigned char file92[] = {
#embed "Web/screens/compose/drafts/text.en.js"
};

static const unsigned char file93[] = {
#embed "Web/screens/compose/drafts/text.ko.js"
};

static const unsigned char file94[] = {
#embed "Web/screens/compose/languages/languages.js"
};

static const unsigned char file95[] = {
#embed "Web/screens/compose/languages/text.de.js"
};

static const unsigned char file96[] = {
#embed "Web/screens/compose/languages/text.en.js"
};

static const unsigned char file97[] = {
#embed "Web/screens/compose/languages/text.ko.js"
};

static const unsigned char file98[] = {
#embed "Web/screens/compose/message.js"
};

static const unsigned char file99[] = {
#embed "Web/screens/compose/more/more.js"
};

static const unsigned char file100[] = {
#embed "Web/screens/compose/more/text.de.js"
};

static const unsigned char file101[] = {
#embed "Web/screens/compose/more/text.en.js"
};

static const unsigned char file102[] = {
#embed "Web/screens/compose/more/text.ko.js"
};

static const unsigned char file103[] = {
#embed "Web/screens/compose/out/going.js"
};

static const unsigned char file104[] = {
#embed "Web/screens/compose/out/out.js"
};

static const unsigned char file105[] = {
#embed "Web/screens/compose/out/text.de.js"
};

static const unsigned char file106[] = {
#embed "Web/screens/compose/out/text.en.js"
};

static const unsigned char file107[] = {
#embed "Web/screens/compose/out/text.ko.js"
};

static const unsigned char file108[] = {
#embed "Web/screens/compose/sending.js"
};

static const unsigned char file109[] = {
#embed "Web/screens/compose/text.de.js"
};

static const unsigned char file110[] = {
#embed "Web/screens/compose/text.en.js"
};

static const unsigned char file111[] = {
#embed "Web/screens/compose/text.ko.js"
};

static const unsigned char file112[] = {
#embed "Web/screens/compose/when.js"
};

static const unsigned char file113[] = {
#embed "Web/screens/device/device.css"
};

static const unsigned char file114[] = {
#embed "Web/screens/device/device.js"
};

static const unsigned char file115[] = {
#embed "Web/screens/device/text.de.js"
};

static const unsigned char file116[] = {
#embed "Web/screens/device/text.en.js"
};

static const unsigned char file117[] = {
#embed "Web/screens/device/text.ko.js"
};

static const unsigned char file118[] = {
#embed "Web/screens/failed/failed.css"
};

static const unsigned char file119[] = {
#embed "Web/screens/failed/failed.js"
};

static const unsigned char file120[] = {
#embed "Web/screens/failed/text.de.js"
};

static const unsigned char file121[] = {
#embed "Web/screens/failed/text.en.js"
};

static const unsigned char file122[] = {
#embed "Web/screens/failed/text.ko.js"
};

static const unsigned char file123[] = {
#embed "Web/screens/hub/credential/credential.js"
};

static const unsigned char file124[] = {
#embed "Web/screens/hub/credential/fields.js"
};

static const unsigned char file125[] = {
#embed "Web/screens/hub/credential/text.de.js"
};

static const unsigned char file126[] = {
#embed "Web/screens/hub/credential/text.en.js"
};

static const unsigned char file127[] = {
#embed "Web/screens/hub/credential/text.ko.js"
};

static const unsigned char file128[] = {
#embed "Web/screens/hub/hub.css"
};

static const unsigned char file129[] = {
#embed "Web/screens/hub/hub.js"
};

static const unsigned char file130[] = {
#embed "Web/screens/hub/jobs/jobs.js"
};

static const unsigned char file131[] = {
#embed "Web/screens/hub/jobs/text.de.js"
};

static const unsigned char file132[] = {
#embed "Web/screens/hub/jobs/text.en.js"
};

static const unsigned char file133[] = {
#embed "Web/screens/hub/jobs/text.ko.js"
};

static const unsigned char file134[] = {
#embed "Web/screens/hub/settings/settings.js"
};

static const unsigned char file135[] = {
#embed "Web/screens/hub/settings/text.de.js"
};

static const unsigned char file136[] = {
#embed "Web/screens/hub/settings/text.en.js"
};

static const unsigned char file137[] = {
#embed "Web/screens/hub/settings/text.ko.js"
};

static const unsigned char file138[] = {
#embed "Web/screens/hub/text.de.js"
};

static const unsigned char file139[] = {
#embed "Web/screens/hub/text.en.js"
};

static const unsigned char file140[] = {
#embed "Web/screens/hub/text.ko.js"
};

static const unsigned char file141[] = {
#embed "Web/screens/now/alerts.js"
};

static const unsigned char file142[] = {
#embed "Web/screens/now/now.css"
};

static const unsigned char file143[] = {
#embed "Web/screens/now/now.js"
};

static const unsigned char file144[] = {
#embed "Web/screens/now/running.js"
};

static const unsigned char file145[] = {
#embed "Web/screens/now/text.de.js"
};

static const unsigned char file146[] = {
#embed "Web/screens/now/text.en.js"
};

static const unsigned char file147[] = {
#embed "Web/screens/now/text.ko.js"
};

static const unsigned char file148[] = {
#embed "Web/screens/people/people.css"
};

static const unsigned char file149[] = {
#embed "Web/screens/people/people.js"
};

static const unsigned char file150[] = {
#embed "Web/screens/people/text.de.js"
};

static const unsigned char file151[] = {
#embed "Web/screens/people/text.en.js"
};

static const unsigned char file152[] = {
#embed "Web/screens/people/text.ko.js"
};

static const unsigned char file153[] = {
#embed "Web/screens/people/user/text.de.js"
};

static const unsigned char file154[] = {
#embed "Web/screens/people/user/text.en.js"
};

static const unsigned char file155[] = {
#embed "Web/screens/people/user/text.ko.js"
};

static const unsigned char file156[] = {
#embed "Web/screens/people/user/user.js"
};

static const unsigned char file157[] = {
#embed "Web/screens/send/send.css"
};

static const unsigned char file158[] = {
#embed "Web/screens/send/send.js"
};

static const unsigned char file159[] = {
#embed "Web/screens/send/text.de.js"
};

static const unsigned char file160[] = {
#embed "Web/screens/send/text.en.js"
};

static const unsigned char file161[] = {
#embed "Web/screens/send/text.ko.js"
};

static const unsigned char file162[] = {
#embed "Web/screens/send/who/text.de.js"
};

static const unsigned char file163[] = {
#embed "Web/screens/send/who/text.en.js"
};

static const unsigned char file164[] = {
#embed "Web/screens/send/who/text.ko.js"
};

static const unsigned char file165[] = {
#embed "Web/screens/send/who/who.js"
};

static const unsigned char file166[] = {
#embed "Web/screens/sends/sends.css"
};

static const unsigned char file167[] = {
#embed "Web/screens/sends/sends.js"
};

static const unsigned char file168[] = {
#embed "Web/screens/sends/text.de.js"
};

static const unsigned char file169[] = {
#embed "Web/screens/sends/text.en.js"
};

static const unsigned char file170[] = {
#embed "Web/screens/sends/text.ko.js"
};

static const unsigned char file171[] = {
#embed "Web/screens/server/audit/audit.js"
};

static const unsigned char file172[] = {
#embed "Web/screens/server/audit/text.de.js"
};

static const unsigned char file173[] = {
#embed "Web/screens/server/audit/text.en.js"
};

static const unsigned char file174[] = {
#embed "Web/screens/server/audit/text.ko.js"
};

static const unsigned char file175[] = {
#embed "Web/screens/server/audit/words.js"
};

static const unsigned char file176[] = {
#embed "Web/screens/server/backup/backup.js"
};

static const unsigned char file177[] = {
#embed "Web/screens/server/backup/text.de.js"
};

static const unsigned char file178[] = {
#embed "Web/screens/server/backup/text.en.js"
};

static const unsigned char file179[] = {
#embed "Web/screens/server/backup/text.ko.js"
};

static const unsigned char file180[] = {
#embed "Web/screens/server/fetches/fetches.js"
};

static const unsigned char file181[] = {
#embed "Web/screens/server/fetches/text.de.js"
};

static const unsigned char file182[] = {
#embed "Web/screens/server/fetches/text.en.js"
};

static const unsigned char file183[] = {
#embed "Web/screens/server/fetches/text.ko.js"
};

static const unsigned char file184[] = {
#embed "Web/screens/server/keys/keys.js"
};

static const unsigned char file185[] = {
#embed "Web/screens/server/keys/text.de.js"
};

static const unsigned char file186[] = {
#embed "Web/screens/server/keys/text.en.js"
};

static const unsigned char file187[] = {
#embed "Web/screens/server/keys/text.ko.js"
};

static const unsigned char file188[] = {
#embed "Web/screens/server/roles.js"
};

static const unsigned char file189[] = {
#embed "Web/screens/server/server.css"
};

static const unsigned char file190[] = {
#embed "Web/screens/server/server.js"
};

static const unsigned char file191[] = {
#embed "Web/screens/server/text.de.js"
};

static const unsigned char file192[] = {
#embed "Web/screens/server/text.en.js"
};

static const unsigned char file193[] = {
#embed "Web/screens/server/text.ko.js"
};

static const unsigned char file194[] = {
#embed "Web/screens/server/users/text.de.js"
};

static const unsigned char file195[] = {
#embed "Web/screens/server/users/text.en.js"
};

static const unsigned char file196[] = {
#embed "Web/screens/server/users/text.ko.js"
};

static const unsigned char file197[] = {
#embed "Web/screens/server/users/users.js"
};

static const unsigned char file198[] = {
#embed "Web/screens/signin/provider.js"
};

static const unsigned char file199[] = {
#embed "Web/screens/signin/signin.css"
};

static const unsigned char file200[] = {
#embed "Web/screens/signin/signin.js"
};

static const unsigned char file201[] = {
#embed "Web/screens/signin/text.de.js"
};

static const unsigned char file202[] = {
#embed "Web/screens/signin/text.en.js"
};

static const unsigned char file203[] = {
#embed "Web/screens/signin/text.ko.js"
};

static const unsigned char file204[] = {
#embed "Web/screens/waiting/month.js"
};

static const unsigned char file205[] = {
#embed "Web/screens/waiting/text.de.js"
};

static const unsigned char file206[] = {
#embed "Web/screens/waiting/text.en.js"
};

static const unsigned char file207[] = {
#embed "Web/screens/waiting/text.ko.js"
};

static const unsigned char file208[] = {
#embed "Web/screens/waiting/waiting.css"
};

static const unsigned char file209[] = {
#embed "Web/screens/waiting/waiting.js"
};

static const unsigned char file210[] = {
#embed "Web/screens/welcome/push.js"
};

static const unsigned char file211[] = {
#embed "Web/screens/welcome/text.de.js"
};

static const unsigned char file212[] = {
#embed "Web/screens/welcome/text.en.js"
};

static const unsigned char file213[] = {
#embed "Web/screens/welcome/text.ko.js"
};

static const unsigned char file214[] = {
#embed "Web/screens/welcome/welcome.css"
};

static const unsigned char file215[] = {
#embed "Web/screens/welcome/welcome.js"
};

static const unsigned char file216[] = {
#embed "Web/screens/why/text.de.js"
};

static const unsigned char file217[] = {
#embed "Web/screens/why/text.en.js"
};

static const unsigned char file218[] = {
#embed "Web/screens/why/text.ko.js"
};

static const unsigned char file219[] = {
#embed "Web/screens/why/why.css"
};

static const unsigned char file220[] = {
#embed "Web/screens/why/why.js"
};

static const unsigned char file221[] = {
#embed "Web/text.de.js"
};

static const unsigned char file222[] = {
#embed "Web/text.en.js"
};

static const unsigned char file223[] = {
#embed "Web/text.ko.js"
};

static const martlet_console_file files[] = {
    {"base.css", file0, sizeof file0},
    {"icon.svg", file1, sizeof file1},
    {"index.html", file2, sizeof file2},
    {"lib/api.js", file3, sizeof file3},
    {"lib/dom.js", file4, sizeof file4},
    {"lib/drafts.js", file5, sizeof file5},
    {"lib/names.js", file6, sizeof file6},
    {"lib/screen.js", file7, sizeof file7},
    {"lib/text.js", file8, sizeof file8},
    {"lib/time.js", file9, sizeof file9},
    {"lib/zone.js", file10, sizeof file10},
    {"main.js", file11, sizeof file11},
    {"parts/chart/chart.js", file12, sizeof file12},
    {"parts/chart/table.js", file13, sizeof file13},
    {"parts/chart/text.de.js", file14, sizeof file14},
    {"parts/chart/text.en.js", file15, sizeof file15},
    {"parts/chart/text.ko.js", file16, sizeof file16},
    {"parts/dialog/ask.js", file17, sizeof file17},
    {"parts/dialog/command.js", file18, sizeof file18},
    {"parts/dialog/confirm.js", file19, sizeof file19},
    {"parts/dialog/dialog.js", file20, sizeof file20},
    {"parts/dialog/form.js", file21, sizeof file21},
    {"parts/dialog/text.de.js", file22, sizeof file22},
    {"parts/dialog/text.en.js", file23, sizeof file23},
    {"parts/dialog/text.ko.js", file24, sizeof file24},
    {"parts/expression/expression.css", file25, sizeof file25},
    {"parts/expression/expression.js", file26, sizeof file26},
    {"parts/expression/rules.js", file27, sizeof file27},
    {"parts/held/held.js", file28, sizeof file28},
    {"parts/held/text.de.js", file29, sizeof file29},
    {"parts/held/text.en.js", file30, sizeof file30},
    {"parts/held/text.ko.js", file31, sizeof file31},
    {"parts/look/look.css", file32, sizeof file32},
    {"parts/look/look.js", file33, sizeof file33},
    {"parts/look/text.de.js", file34, sizeof file34},
    {"parts/look/text.en.js", file35, sizeof file35},
    {"parts/look/text.ko.js", file36, sizeof file36},
    {"parts/outage/outage.js", file37, sizeof file37},
    {"parts/outage/text.de.js", file38, sizeof file38},
    {"parts/outage/text.en.js", file39, sizeof file39},
    {"parts/outage/text.ko.js", file40, sizeof file40},
    {"parts/outcome/outcome.js", file41, sizeof file41},
    {"parts/outcome/text.de.js", file42, sizeof file42},
    {"parts/outcome/text.en.js", file43, sizeof file43},
    {"parts/outcome/text.ko.js", file44, sizeof file44},
    {"parts/pane/fresh.js", file45, sizeof file45},
    {"parts/pane/pane.js", file46, sizeof file46},
    {"parts/person/person.css", file47, sizeof file47},
    {"parts/person/person.js", file48, sizeof file48},
    {"parts/person/text.de.js", file49, sizeof file49},
    {"parts/person/text.en.js", file50, sizeof file50},
    {"parts/person/text.ko.js", file51, sizeof file51},
    {"parts/provider/confirm.js", file52, sizeof file52},
    {"parts/provider/provider.js", file53, sizeof file53},
    {"parts/provider/text.de.js", file54, sizeof file54},
    {"parts/provider/text.en.js", file55, sizeof file55},
    {"parts/provider/text.ko.js", file56, sizeof file56},
    {"parts/qr/code.js", file57, sizeof file57},
    {"parts/qr/qr.js", file58, sizeof file58},
    {"parts/shell/ending.js", file59, sizeof file59},
    {"parts/shell/keyboard.js", file60, sizeof file60},
    {"parts/shell/keys.js", file61, sizeof file61},
    {"parts/shell/menu.js", file62, sizeof file62},
    {"parts/shell/search.js", file63, sizeof file63},
    {"parts/shell/text.de.js", file64, sizeof file64},
    {"parts/shell/text.en.js", file65, sizeof file65},
    {"parts/shell/text.ko.js", file66, sizeof file66},
    {"push/worker.js", file67, sizeof file67},
    {"screens/account/account.css", file68, sizeof file68},
    {"screens/account/account.js", file69, sizeof file69},
    {"screens/account/text.de.js", file70, sizeof file70},
    {"screens/account/text.en.js", file71, sizeof file71},
    {"screens/account/text.ko.js", file72, sizeof file72},
    {"screens/campaigns/campaigns.css", file73, sizeof file73},
    {"screens/campaigns/campaigns.js", file74, sizeof file74},
    {"screens/campaigns/text.de.js", file75, sizeof file75},
    {"screens/campaigns/text.en.js", file76, sizeof file76},
    {"screens/campaigns/text.ko.js", file77, sizeof file77},
    {"screens/compose/campaign/campaign.js", file78, sizeof file78},
    {"screens/compose/campaign/text.de.js", file79, sizeof file79},
    {"screens/compose/campaign/text.en.js", file80, sizeof file80},
    {"screens/compose/campaign/text.ko.js", file81, sizeof file81},
    {"screens/compose/check/check.js", file82, sizeof file82},
    {"screens/compose/check/text.de.js", file83, sizeof file83},
    {"screens/compose/check/text.en.js", file84, sizeof file84},
    {"screens/compose/check/text.ko.js", file85, sizeof file85},
    {"screens/compose/command.js", file86, sizeof file86},
    {"screens/compose/compose.css", file87, sizeof file87},
    {"screens/compose/compose.js", file88, sizeof file88},
    {"screens/compose/draft.js", file89, sizeof file89},
    {"screens/compose/drafts/drafts.js", file90, sizeof file90},
    {"screens/compose/drafts/text.de.js", file91, sizeof file91},
    {"screens/compose/drafts/text.en.js", file92, sizeof file92},
    {"screens/compose/drafts/text.ko.js", file93, sizeof file93},
    {"screens/compose/languages/languages.js", file94, sizeof file94},
    {"screens/compose/languages/text.de.js", file95, sizeof file95},
    {"screens/compose/languages/text.en.js", file96, sizeof file96},
    {"screens/compose/languages/text.ko.js", file97, sizeof file97},
    {"screens/compose/message.js", file98, sizeof file98},
    {"screens/compose/more/more.js", file99, sizeof file99},
    {"screens/compose/more/text.de.js", file100, sizeof file100},
    {"screens/compose/more/text.en.js", file101, sizeof file101},
    {"screens/compose/more/text.ko.js", file102, sizeof file102},
    {"screens/compose/out/going.js", file103, sizeof file103},
    {"screens/compose/out/out.js", file104, sizeof file104},
    {"screens/compose/out/text.de.js", file105, sizeof file105},
    {"screens/compose/out/text.en.js", file106, sizeof file106},
    {"screens/compose/out/text.ko.js", file107, sizeof file107},
    {"screens/compose/sending.js", file108, sizeof file108},
    {"screens/compose/text.de.js", file109, sizeof file109},
    {"screens/compose/text.en.js", file110, sizeof file110},
    {"screens/compose/text.ko.js", file111, sizeof file111},
    {"screens/compose/when.js", file112, sizeof file112},
    {"screens/device/device.css", file113, sizeof file113},
    {"screens/device/device.js", file114, sizeof file114},
    {"screens/device/text.de.js", file115, sizeof file115},
    {"screens/device/text.en.js", file116, sizeof file116},
    {"screens/device/text.ko.js", file117, sizeof file117},
    {"screens/failed/failed.css", file118, sizeof file118},
    {"screens/failed/failed.js", file119, sizeof file119},
    {"screens/failed/text.de.js", file120, sizeof file120},
    {"screens/failed/text.en.js", file121, sizeof file121},
    {"screens/failed/text.ko.js", file122, sizeof file122},
    {"screens/hub/credential/credential.js", file123, sizeof file123},
    {"screens/hub/credential/fields.js", file124, sizeof file124},
    {"screens/hub/credential/text.de.js", file125, sizeof file125},
    {"screens/hub/credential/text.en.js", file126, sizeof file126},
    {"screens/hub/credential/text.ko.js", file127, sizeof file127},
    {"screens/hub/hub.css", file128, sizeof file128},
    {"screens/hub/hub.js", file129, sizeof file129},
    {"screens/hub/jobs/jobs.js", file130, sizeof file130},
    {"screens/hub/jobs/text.de.js", file131, sizeof file131},
    {"screens/hub/jobs/text.en.js", file132, sizeof file132},
    {"screens/hub/jobs/text.ko.js", file133, sizeof file133},
    {"screens/hub/settings/settings.js", file134, sizeof file134},
    {"screens/hub/settings/text.de.js", file135, sizeof file135},
    {"screens/hub/settings/text.en.js", file136, sizeof file136},
    {"screens/hub/settings/text.ko.js", file137, sizeof file137},
    {"screens/hub/text.de.js", file138, sizeof file138},
    {"screens/hub/text.en.js", file139, sizeof file139},
    {"screens/hub/text.ko.js", file140, sizeof file140},
    {"screens/now/alerts.js", file141, sizeof file141},
    {"screens/now/now.css", file142, sizeof file142},
    {"screens/now/now.js", file143, sizeof file143},
    {"screens/now/running.js", file144, sizeof file144},
    {"screens/now/text.de.js", file145, sizeof file145},
    {"screens/now/text.en.js", file146, sizeof file146},
    {"screens/now/text.ko.js", file147, sizeof file147},
    {"screens/people/people.css", file148, sizeof file148},
    {"screens/people/people.js", file149, sizeof file149},
    {"screens/people/text.de.js", file150, sizeof file150},
    {"screens/people/text.en.js", file151, sizeof file151},
    {"screens/people/text.ko.js", file152, sizeof file152},
    {"screens/people/user/text.de.js", file153, sizeof file153},
    {"screens/people/user/text.en.js", file154, sizeof file154},
    {"screens/people/user/text.ko.js", file155, sizeof file155},
    {"screens/people/user/user.js", file156, sizeof file156},
    {"screens/send/send.css", file157, sizeof file157},
    {"screens/send/send.js", file158, sizeof file158},
    {"screens/send/text.de.js", file159, sizeof file159},
    {"screens/send/text.en.js", file160, sizeof file160},
    {"screens/send/text.ko.js", file161, sizeof file161},
    {"screens/send/who/text.de.js", file162, sizeof file162},
    {"screens/send/who/text.en.js", file163, sizeof file163},
    {"screens/send/who/text.ko.js", file164, sizeof file164},
    {"screens/send/who/who.js", file165, sizeof file165},
    {"screens/sends/sends.css", file166, sizeof file166},
    {"screens/sends/sends.js", file167, sizeof file167},
    {"screens/sends/text.de.js", file168, sizeof file168},
    {"screens/sends/text.en.js", file169, sizeof file169},
    {"screens/sends/text.ko.js", file170, sizeof file170},
    {"screens/server/audit/audit.js", file171, sizeof file171},
    {"screens/server/audit/text.de.js", file172, sizeof file172},
    {"screens/server/audit/text.en.js", file173, sizeof file173},
    {"screens/server/audit/text.ko.js", file174, sizeof file174},
    {"screens/server/audit/words.js", file175, sizeof file175},
    {"screens/server/backup/backup.js", file176, sizeof file176},
    {"screens/server/backup/text.de.js", file177, sizeof file177},
    {"screens/server/backup/text.en.js", file178, sizeof file178},
    {"screens/server/backup/text.ko.js", file179, sizeof file179},
    {"screens/server/fetches/fetches.js", file180, sizeof file180},
    {"screens/server/fetches/text.de.js", file181, sizeof file181},
    {"screens/server/fetches/text.en.js", file182, sizeof file182},
    {"screens/server/fetches/text.ko.js", file183, sizeof file183},
    {"screens/server/keys/keys.js", file184, sizeof file184},
    {"screens/server/keys/text.de.js", file185, sizeof file185},
    {"screens/server/keys/text.en.js", file186, sizeof file186},
    {"screens/server/keys/text.ko.js", file187, sizeof file187},
    {"screens/server/roles.js", file188, sizeof file188},
    {"screens/server/server.css", file189, sizeof file189},
    {"screens/server/server.js", file190, sizeof file190},
    {"screens/server/text.de.js", file191, sizeof file191},
    {"screens/server/text.en.js", file192, sizeof file192},
    {"screens/server/text.ko.js", file193, sizeof file193},
    {"screens/server/users/text.de.js", file194, sizeof file194},
    {"screens/server/users/text.en.js", file195, sizeof file195},
    {"screens/server/users/text.ko.js", file196, sizeof file196},
    {"screens/server/users/users.js", file197, sizeof file197},
    {"screens/signin/provider.js", file198, sizeof file198},
    {"screens/signin/signin.css", file199, sizeof file199},
    {"screens/signin/signin.js", file200, sizeof file200},
    {"screens/signin/text.de.js", file201, sizeof file201},
    {"screens/signin/text.en.js", file202, sizeof file202},
    {"screens/signin/text.ko.js", file203, sizeof file203},
    {"screens/waiting/month.js", file204, sizeof file204},
    {"screens/waiting/text.de.js", file205, sizeof file205},
    {"screens/waiting/text.en.js", file206, sizeof file206},
    {"screens/waiting/text.ko.js", file207, sizeof file207},
    {"screens/waiting/waiting.css", file208, sizeof file208},
    {"screens/waiting/waiting.js", file209, sizeof file209},
    {"screens/welcome/push.js", file210, sizeof file210},
    {"screens/welcome/text.de.js", file211, sizeof file211},
    {"screens/welcome/text.en.js", file212, sizeof file212},
    {"screens/welcome/text.ko.js", file213, sizeof file213},
    {"screens/welcome/welcome.css", file214, sizeof file214},
    {"screens/welcome/welcome.js", file215, sizeof file215},
    {"screens/why/text.de.js", file216, sizeof file216},
    {"screens/why/text.en.js", file217, sizeof file217},
    {"screens/why/text.ko.js", file218, sizeof file218},
    {"screens/why/why.css", file219, sizeof file219},
    {"screens/why/why.js", file220, sizeof file220},
    {"text.de.js", file221, sizeof file221},
    {"text.en.js", file222, sizeof file222},
    {"text.ko.js", file223, sizeof file223},
};

size_t martlet_console_file_count(void) { return sizeof files / sizeof *files; }

martlet_console_file martlet_console_file_at(size_t index) { return files[index]; }
