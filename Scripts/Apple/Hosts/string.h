// Own text: the header that Swift's compiler writes includes it, and uses nothing of it.
#pragma once
