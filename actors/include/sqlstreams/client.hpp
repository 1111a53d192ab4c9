#pragma once
// The public header of the C++ client.

#include "actors/client.hpp"
