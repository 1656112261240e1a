// libxml2 as Swift can call it: the parser, and one function that begins it.
#pragma once
#include <libxml/xmlversion.h>
// Debian's libxml2 is built with ICU, whose headers declare what Foundation's own ICU declares otherwise. Nothing here uses a converter.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>

/// Has a parser read bytes, which are UTF-8: nothing from a network, and no entity but the five of XML, because no document type
/// declaration may be among the bytes.
///
/// XML_PARSE_NOENT means that `&amp;` in an attribute becomes `&` at once.
static inline void latchkey_xml_read(xmlParserCtxtPtr parser, const char *bytes, int count) {
    xmlFreeDoc(xmlCtxtReadMemory(parser, bytes, count, NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOENT));
}

/// Whether the parser stands before `/>`. libxml2's own reader asks so, too, whether an element is empty.
static inline int latchkey_xml_is_at_short_end(xmlParserCtxtPtr parser) {
    return parser->input != NULL && parser->input->cur[0] == '/' && parser->input->cur[1] == '>';
}
