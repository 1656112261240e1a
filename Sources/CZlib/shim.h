// zlib as Swift can call it: what is read is constant.
#pragma once
#define ZLIB_CONST
#include <zlib.h>
