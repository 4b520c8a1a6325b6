// Matrices of Eigen and arrays of xtensor, without a copy.
#include <backslice/backslice.h>

#include <Eigen/Core>
#include <iostream>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

using namespace backslice;

// A matrix, a Map or a block of Eigen. Its columns come first in memory,
// unless it is RowMajor: the strides say so.
template <class Matrix>
auto view_of_eigen(Matrix& m) {
  using AnyView = std::conditional_t<std::is_const_v<Matrix>, ConstView, View>;
  return AnyView::strided(m.data(), {m.rows(), m.cols()},
                          {m.rowStride(), m.colStride()});
}

Status eigen() {
  Eigen::MatrixXf x = Eigen::MatrixXf::Zero(4, 5);
  const Eigen::Matrix<float, 2, 3> dy{{1, 2, 3}, {4, 5, 6}};
  const Result<View> to = view_of_eigen(x);
  const Result<ConstView> from = view_of_eigen(dy);
  const Result<Selection> s = Selection::from_index({4, 5}, "1:3, ::2");
  if (!to || !from || !s) return {StatusCode::Internal, "wrong sizes"};
  // x(1..2, 0/2/4) += dy
  return slice_grad_into(*s, *from, *to, Write::Accumulate);
}

// An xarray, xtensor or view of xtensor.
template <class Array>
Result<View> view_of_xtensor(Array& a) {
  const Result<Shape> shape = Shape::make(a.shape());
  if (!shape) return shape.status();
  const auto& strides = a.strides();
  return View::strided(a.data() + a.data_offset(), *shape,
                       {strides.data(), strides.size()});
}

Status xtensor() {
  xt::xarray<double> x = xt::zeros<double>({4, 5});
  xt::xtensor<double, 2> dy = {{1, 2, 3}, {4, 5, 6}};
  const Result<View> to = view_of_xtensor(x);
  const Result<View> from = view_of_xtensor(dy);
  const Result<Selection> s = Selection::from_index({4, 5}, "1:3, ::2");
  if (!to || !from || !s) return {StatusCode::Internal, "wrong sizes"};
  return slice_grad_into(*s, *from, *to, Write::Accumulate);
}

// The same of parts and of other orders, compared with the libraries' own.
bool check_eigen() {
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(5, 6);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> dy =
      Eigen::MatrixXd::Random(2, 3);
  auto block = x.block(1, 2, 4, 3);
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(5, 6);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) expected(1 + 2 * i, 4 - j) = dy(i, j);
  const Selection s = Selection::from_index({4, 3}, "::2, ::-1").value();
  return slice_grad_into(s, view_of_eigen(dy).value(),
                         view_of_eigen(block).value())
             .ok() &&
         x == expected;
}

bool check_xtensor() {
  xt::xtensor<float, 3> x = xt::zeros<float>({3, 4, 5});
  xt::xarray<float, xt::layout_type::column_major> dy =
      xt::arange<float>(6).reshape({2, 3});
  auto part = xt::view(x, 1, xt::range(0, 4, 2), xt::range(1, 5));
  xt::xtensor<float, 3> expected = xt::zeros<float>({3, 4, 5});
  xt::view(expected, 1, xt::range(0, 4, 2), xt::range(2, 5)) = dy;
  const Selection s = Selection::from_index({2, 4}, ":, 1:").value();
  return slice_grad_into(s, view_of_xtensor(dy).value(),
                         view_of_xtensor(part).value())
             .ok() &&
         x == expected;
}

int main() {
  for (const Status& status : {eigen(), xtensor()}) {
    if (!status.ok()) {
      std::cerr << status << '\n';
      return 1;
    }
  }
  return check_eigen() && check_xtensor() ? 0 : 1;
}
