// Own text, as RCTBridgeModule.h.
#pragma once
#import <React/RCTBridgeModule.h>
@interface RCTEventEmitter : NSObject <RCTBridgeModule>
- (NSArray<NSString *> *)supportedEvents;
- (void)sendEventWithName:(NSString *)name body:(id)body;
@end
