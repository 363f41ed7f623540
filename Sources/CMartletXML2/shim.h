#pragma once

// libxml2's headers pull in ICU's where the library was built with it, and those clash with the ICU inside Foundation.
// Only the converters' structure changes with it, which nobody here touches.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>
