// Own text. Source: public bindings (objc2, dotnet/macios) and Apple's documentation pages; first written 22 November 2026.
#pragma once
#import <Foundation/Foundation.h>
typedef struct { long long value; int timescale; unsigned int flags; long long epoch; } CMTime;
typedef struct { CMTime start; CMTime duration; } CMTimeRange;
extern const CMTime kCMTimeZero;
